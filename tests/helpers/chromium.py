"""How Chromium is started by tests and benchmarks: without what a person's browser does beside showing a page."""

from __future__ import annotations

import shutil

WITH_WINDOWS = ("chromium", "chromium-browser", "google-chrome")
WITHOUT = "chromium-headless-shell"  # the same engine: the tests of the page take a sixth less work in it

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


def path_of(*names: str) -> str | None:
    """Return the path of the first of these browsers that is here, by default one without windows if there is one."""
    return next(filter(None, map(shutil.which, names or (WITHOUT, *WITH_WINDOWS))), None)
