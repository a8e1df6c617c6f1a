"""Forty names that a system, a rater or a metric may have, and that nothing may obey."""

from __future__ import annotations

HOSTILE = (
    # Terminals: clear the screen, set the title, fill the clipboard, C1, backspaces, half a line.
    "esc\x1b[2J\x1b[31mred", "title\x1b]0;owned\x07", "clip\x1b]52;c;cm0gLXJm\x07", "c1\x9b31mred",
    "c1-osc\x9d0;owned\x9c", "back\x08\x08\x08space", "bell\x07", "nul\x00l", "del\x7f",
    "ff\x0cvt\x0b", "cr\rover", "two\nlines", "line\u2028sep", "par\u2029sep", "nel\x85x",
    # The direction of writing.
    "override\u202egnp.exe", "isolate\u2067abc\u2069", "embed\u202babc\u202c",
    # HTML and SVG.
    "<script>parent.owned=1</script>", "<img src=/leak onerror=parent.owned=1>",
    "</title><script>parent.owned=1</script>", "\"><svg onload=parent.owned=1>",
    "<style>@import '/leak'</style>", "]]><!-- -->", "{{7*7}}{% raw %}", "&lt;b&gt;",
    # LaTeX and Markdown.
    "\\input{/etc/passwd}", "\\immediate\\write18{id}", "$\\frac{$", "a%b&c#d_e^f~g{h}",
    "`code` **bold**", "[x](javascript:alert(1))", "a|b||c", "![x](/leak)",
    # Spreadsheets.
    "=HYPERLINK(\"http://example.invalid\",\"x\")", "+cmd|' /C calc'!A0", "-2+3+cmd|' /C calc'!A0",
    "@SUM(1+1)",
    # Length, and other scripts.
    "long" * 1200, "系统甲 نظام मशीन 🤖",
)  # fmt: skip
"""None of them begins or ends with a space, which a table does not keep."""
