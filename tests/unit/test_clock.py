from pipeline.clock import exact_text, instant_text


def test_an_instant_that_no_calendar_has_is_told_all_the_same():
    assert instant_text(0) == "1970-01-01T00:00:00.000Z"
    for micros in (-(10**18), 5 * 10**18):
        assert str(micros) in instant_text(micros)
        assert str(micros) in exact_text(micros)
