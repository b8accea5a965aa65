"""A table of rich that is written line by line where nothing in it has to be folded, in a tenth of the time.

rich measures, wraps and crops each cell for itself: 2,600 rows of nine columns took 2.3 s of processor time.
"""

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.segment import Segment
from rich.style import Style
from rich.table import Table
from rich.text import Text


class QuickTable(Table):
    """A table without borders, whose cells are texts; in all else as rich has it."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield its lines: at once where all cells are plain and fit, else as rich does."""
        columns = [_texts([column.header, *column.cells]) for column in self.columns]
        texts = [text for text in columns if text is not None]
        widths = [max(cell_len(text.plain) for text in column) for column in texts]
        gap = self.padding[1]
        width = sum(widths) + gap * (len(widths) - 1)
        if len(texts) < len(columns) or not texts or width > options.max_width:
            yield from super().__rich_console__(console, options)
            return
        if isinstance(self.title, str):
            title = console.render_str(self.title, style=self.title_style or "", highlight=False)
            yield from console.render(title, options.update(width=width, justify=self.title_justify))
        heads, *rows = zip(*texts, strict=True)
        yield from self._line(console, heads, widths, console.get_style(self.header_style))
        for row in rows:
            yield from self._line(console, row, widths, Style.null())

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
        # rich looks for emoji in a str, and not in a Text.
        if isinstance(cell, str) and ":" not in cell:
            texts.append(Text(cell))
        elif isinstance(cell, Text) and not cell.spans:
            texts.append(cell)
        else:
            return None
        if "\n" in texts[-1].plain or "\t" in texts[-1].plain:
            return None
    return texts
