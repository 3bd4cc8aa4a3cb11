"""`page`: a whole HTML file with everything that it shows inside."""

from __future__ import annotations

from chatmem_lab.html.style import GROUNDS, figure, style
from chatmem_lab.html.text import escape

__all__ = ["page"]

_RULES = """\
:root{color-scheme:light dark}
body{margin:0;background:LIGHT}
@media (prefers-color-scheme:dark){body{background:DARK}}
main{max-width:868px;margin:24px auto;padding:0 16px}
.cml h1{font-size:20px;font-weight:600;margin:0 0 4px;overflow-wrap:anywhere}
.cml h2{font-size:16px;font-weight:600;margin:40px 0 8px;overflow-wrap:anywhere}
.cml .cml{margin:8px 0 0}
.cml .cml+.cml{margin-top:24px}
.cml p,.cml li{max-width:110ch}
.cml ul{padding-left:20px;margin:8px 0}
.cml li{margin:0 0 4px}
.cml .chart{margin:24px 0 0;overflow-x:auto}
.cml .chart svg{display:block;width:100%;min-width:720px;height:auto}
.cml .chart svg *{stroke-linejoin:round;stroke-linecap:butt}
.cml .chart .dark{display:none}
@media (prefers-color-scheme:dark){
.cml .chart .dark{display:block}.cml .chart .light{display:none}}
@media print{.cml .chart,.cml .pic{break-inside:avoid}.cml h2{break-after:avoid}}
"""


def page(title: str, *parts: str) -> str:
    """A page that works offline: styles inside, no script, light and dark.

    Parameters
    ----------
    title : str
    *parts : str
        Escaped HTML, with pictures made with ``styled=False``.

    Examples
    --------
    >>> page("<Report>", "<p>hi</p>").startswith("<!doctype html><html lang=")
    True
    """
    rules = _RULES.replace("LIGHT", GROUNDS["light"]["bg"]).replace("DARK", GROUNDS["dark"]["bg"])
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{escape(title)}</title><style>{style()}{rules}</style></head>"
        f"<body><main>{figure(*parts, styled=False)}</main></body></html>\n"
    )
