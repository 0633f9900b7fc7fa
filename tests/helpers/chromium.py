"""How Chromium is started by tests and benchmarks: without what a person's browser does beside showing a page."""

from __future__ import annotations

# Of two lists of features only the last counts, so this one repeats what Playwright turns off.
PLAYWRIGHT = """AimEnabled AvoidCorsURLLoaderRestartOnRedirect AvoidUnnecessaryBeforeUnloadCheckSync DestroyProfileOnBrowserClose
HttpsFirstBalancedModeAutoEnable HttpsUpgrades LensOverlay MediaRouter NetworkTimeServiceQuerying OptimizationHints PaintHolding
PreconnectToSearch TcpPortRandomizationWin ThirdPartyStoragePartitioning""".split()  # noqa: SIM905 -- as on the command line
# Every new window loads the two pages that drop down from the address bar and starts a process for the next tab: 0.7 of the 1.1 s
# of work that an empty window takes.
UNSEEN = ["SpareRendererForSitePerProcess", "WebUIOmniboxAimPopup", "WebUIOmniboxPopup"]
FLAGS = """--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking
--disable-component-update --disable-sync""".split()  # noqa: SIM905 -- as on the command line
FLAGS.append(f"--disable-features={','.join(PLAYWRIGHT + UNSEEN)}")
