"""The headers of every response, whoever sends it, and the style of the pages that the guard writes itself."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256

from askgraph.workbench import report_page

STYLE = (
    ":root { color-scheme: light dark; font: 1.0625rem/1.6 system-ui, sans-serif } "
    "main { max-width: 26rem; margin: 22vh auto; padding: 1.5rem } "
    "input, button { font: inherit; padding: .5rem .8rem; border-radius: .6rem; border: 1px solid; margin-block: .3rem }"
)
POLICY = (
    "default-src 'none'; script-src 'self'; "
    f"style-src 'self' 'sha256-{b64encode(sha256(STYLE.encode()).digest()).decode()}'; "
    "img-src 'self' data:; connect-src 'self'; font-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
LOCAL = "http://127.0.0.1:* http://localhost:*"  # pages of this machine
FRAMED_POLICY = POLICY.replace("frame-ancestors 'none'", f"frame-ancestors {LOCAL}")  # in a cell of a notebook
# of the report: no script, no picture and no form at all, and the one style that it brings
REPORT_POLICY = f"{report_page.POLICY}; frame-ancestors 'none'"
ALWAYS = {  # a route may send a stricter policy
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}
