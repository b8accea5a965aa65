"""A table of rich that is written line by line where its cells are plain texts, in a tenth of the time.

rich measures, wraps and crops each cell for itself: 2,600 rows of nine columns took 2.3 s of processor time. Here the
widths of the columns are settled once, by rich's own rule, and rich folds only what is wider than its column.
"""

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.segment import Segment
from rich.style import Style
from rich.table import Table
from rich.text import Text

BLANK = Text()


class QuickTable(Table):
    """A table without borders, whose cells are texts; in all else as rich has it."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield its lines: at once where all cells are plain and columns can be narrow enough, else as rich does."""
        columns = [_texts([column.header, *column.cells]) for column in self.columns]
        texts = [text for text in columns if text is not None]
        widths = self._widths(texts, options.max_width) if texts and len(texts) == len(columns) else []
        if not widths:
            yield from super().__rich_console__(console, options)
            return
        if isinstance(self.title, str):
            title = console.render_str(self.title, style=self.title_style or "", highlight=False)
            shown = sum(widths) + self.padding[1] * (len(widths) - 1)
            yield from console.render(title, options.update(width=shown, justify=self.title_justify))
        heads, *rows = zip(*texts, strict=True)
        yield from self._row(console, heads, widths, console.get_style(self.header_style), is_head=True)
        for row in rows:
            yield from self._row(console, row, widths, Style.null())

    def _widths(self, columns: Sequence[Sequence[Text]], most: int) -> list[int]:
        """Return how wide columns are, those that may fold only so wide that all fit; none where they do not."""
        last = len(columns) - 1
        gaps = [0 if at == last else self.padding[1] for at in range(len(columns))]
        widths = [max(cell_len(text.plain) for text in texts) + gap for texts, gap in zip(columns, gaps, strict=True)]
        if sum(widths) > most:
            widths = self._collapse_widths(widths, [not column.no_wrap for column in self.columns], most)
        inner = [width - gap for width, gap in zip(widths, gaps, strict=True)]
        return inner if sum(widths) <= most and min(inner) > 0 else []

    def _row(
        self, console: Console, row: Sequence[Text], widths: Sequence[int], style: Style, *, is_head: bool = False
    ) -> Iterator[Segment]:
        if all(cell_len(text.plain) <= width for text, width in zip(row, widths, strict=True)):
            yield from self._line(console, row, widths, style)
            return
        folded = [
            list(text.wrap(console, width, overflow=column.overflow, no_wrap=column.no_wrap))
            for text, width, column in zip(row, widths, self.columns, strict=True)
        ]
        # Heads stand at the bottom of their row, all else at its top.
        lines = list(zip_longest(*(texts[:: -1 if is_head else 1] for texts in folded), fillvalue=BLANK))
        for line in lines[:: -1 if is_head else 1]:
            yield from self._line(console, line, widths, style)

    def _line(self, console: Console, row: Sequence[Text], widths: Sequence[int], style: Style) -> Iterator[Segment]:
        last = len(row) - 1
        for at, (text, width, column) in enumerate(zip(row, widths, self.columns, strict=True)):
            plain = text.plain.rstrip()
            room = " " * (width - cell_len(plain))
            written = f"{room}{plain}" if column.justify == "right" else f"{plain}{room}"
            of_text = style + console.get_style(text.style) if text.style else style
            yield Segment(f"{written}{'' if at == last else ' ' * self.padding[1]}", of_text)
        yield Segment.line()


def _texts(cells: Sequence[RenderableType]) -> list[Text] | None:
    """Return cells as texts of one line; None where one of them is more than that."""
    texts = []
    for cell in cells:
        # rich looks for emoji in a str with two colons, and not in a Text.
        if isinstance(cell, str) and cell.count(":") < 2:  # noqa: PLR2004
            texts.append(Text(cell))
        elif isinstance(cell, Text) and not cell.spans:
            texts.append(cell)
        else:
            return None
        if "\n" in texts[-1].plain or "\t" in texts[-1].plain:
            return None
    return texts
