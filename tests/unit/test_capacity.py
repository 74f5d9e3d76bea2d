"""The page on capacity says what the model computes, and the model what it is told."""

from dataclasses import replace

from bench.capacity import PAGE, Figures, figures_from, markdown, parts, read_figures, written


def test_the_page_has_the_tables_that_its_figures_give() -> None:
    page = PAGE.read_text("utf-8")
    assert written(read_figures(page)) in page


def test_measured_figures_take_the_place_of_written_ones() -> None:
    overdue = {"200,000 overdue at start": {"publish_rate": 70_000}}
    results = {"raw": {"before": {"per_second": 150_000}}, "scenarios": {"delta": overdue}}
    found = figures_from(results)
    assert found == replace(Figures(), raw_rate=150_000, publish_rate=70_000)
    assert read_figures(written(found)) == found


def test_no_results_leave_the_written_figures() -> None:
    assert figures_from({}) == Figures()


def test_every_part_grows_with_the_load_and_what_does_not_fit_stands_out() -> None:
    small, large = parts(Figures(), 1), parts(Figures(), 1_000)
    assert all(one.share < other.share for one, other in zip(small, large, strict=True))
    assert "**20**" in markdown(Figures())
