#!/usr/bin/python3
"""reports/report.py on small hand-made results folders. Exit code 77 (skipped) where matplotlib is missing."""

import csv
import gzip
import io
import json
import sys
import tempfile
import unittest
from contextlib import redirect_stderr, redirect_stdout
from html.parser import HTMLParser
from pathlib import Path

REPORTS = Path(__file__).resolve().parents[2] / "reports"
sys.path.insert(0, str(REPORTS))

try:
    import matplotlib  # noqa: F401
    import numpy  # noqa: F401
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

import figures  # noqa: E402
import net_figures  # noqa: E402
import page  # noqa: E402
import report  # noqa: E402
import results as reading  # noqa: E402

# compute 4 + tp 0.5 + dp 0.25 + bubble 1.25 = step 6 seconds
BREAKDOWN = {"compute": 4.0, "tp_exposed": 0.5, "pp_exposed": 0, "dp_exposed": 0.25, "ep_exposed": 0, "bubble": 1.25,
             "optimizer": 0, "data": 0, "straggler_wait": 0, "other": 0}


def metrics(gpus=16, step=6.0):
    return {"schema_version": 1, "step_time_s": step, "mfu": 0.5, "tokens_per_s": 1000.0, "breakdown_s": BREAKDOWN,
            "network": {"bytes": {"nvlink": 10, "host": 20}, "pauses": 0,
                        "busiest_links": [{"link": 7, "from": "pod0.tor0", "utilisation": 0.25}]},
            "run": {"scenario": f"Toy <1B> on {gpus} GPUs", "seed": 1, "ranks": gpus},
            "provenance": [{"key": "device.peak", "value": "312 TFLOP/s", "provenance": "published", "source": "sheet"},
                           {"key": "device.launch", "value": "4 us", "provenance": "assumed", "source": "a & b"}]}


def net_metrics():
    return {"schema_version": 1, "net": {"flows": 3, "fct_us": {"p50": 1.5, "max": 4.0}},
            "network": {"pauses": 0}, "run": {"scenario": "Toy", "seed": 1, "fidelity": "packet"}}


def write_results(folder, values):
    folder.mkdir(parents=True)
    (folder / "metrics.json").write_text(json.dumps(values))
    (folder / "summary.txt").write_text("step 6 s <fine>\n")
    with open(folder / "links.csv", "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["link", "from", "to", "tier", "rate_bps", "bytes", "utilisation"])
        for i in range(40):
            rows.writerow([i, f"node{i}.gpu0", f"node{i}.nic0", "host" if i % 2 else "pcie", 200e9, i * 1e6, i / 40])
    with open(folder / "placement.csv", "w", newline="") as file:
        csv.writer(file).writerows([["rank", "gpu", "node"], [0, 0, 0], [1, 1, 0], [2, 8, 1]])
    events = [{"ph": "M", "pid": 0, "name": "process_name", "args": {"name": "rank 0"}}]
    for rank in (0, 8):
        events += [{"ph": "X", "pid": rank, "tid": 0, "name": "forward mb0", "cat": "compute", "ts": 0, "dur": 10},
                   {"ph": "X", "pid": rank, "tid": 0, "name": "backward mb0", "cat": "compute", "ts": 20, "dur": 20},
                   {"ph": "X", "pid": rank, "tid": 2, "name": "send", "cat": "pp_exposed", "ts": 10, "dur": 5}]
    with gzip.open(folder / "timeline.json.gz", "wt") as file:
        json.dump({"traceEvents": events}, file)
    return folder


class Page(HTMLParser):
    """Collects what a browser would act on."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.open = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, key, value) for key, value in attrs]
        if tag not in ("meta", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, f"</{tag}> closes something else"


class ReportTest(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.root = Path(self.scratch.name)

    def run_report(self, *arguments):
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            code = report.main([str(argument) for argument in arguments])
        return code, out.getvalue(), err.getvalue()

    def test_whole_folder_gives_every_figure_and_a_page(self):
        folder = write_results(self.root / "a", metrics())
        code, out, err = self.run_report(folder)
        self.assertEqual((code, err), (0, ""))
        written = sorted(path.name for path in (folder / "report").iterdir())
        self.assertEqual(written, ["breakdown.png", "links.png", "report.html", "timeline.png"])
        self.assertEqual(len(out.splitlines()), 4)
        for name in written[:2] + written[3:]:
            self.assertEqual((folder / "report" / name).read_bytes()[:8], b"\x89PNG\r\n\x1a\n")

    def test_a_net_run_gives_flows_and_links(self):
        folder = write_results(self.root / "a", net_metrics())
        (folder / "timeline.json.gz").unlink()
        (folder / "placement.csv").unlink()
        (folder / "flows.csv").write_text("flow,slowdown,end\n0,1.5,whole\n1,40,whole\n2,,failed\n")
        (folder / "series.csv").write_text("time_us,queue_longest_bytes\n10,4000\n20,0\n")
        code, _, err = self.run_report(folder)
        self.assertEqual((code, err), (0, ""))
        written = sorted(path.name for path in (folder / "report").iterdir())
        self.assertEqual(written, ["flows.png", "links.png", "report.html"])
        text = (folder / "report" / "report.html").read_text()
        self.assertIn("<h2>Traffic</h2>", text)
        self.assertNotIn("Breakdown of the step", text)
        (folder / "flows.csv").unlink()
        self.assertIn("flows.csv is missing", self.run_report(folder)[2])

    # What differs is drawn: four of these figures, the failed run's times as gaps.
    def test_a_sweep_gives_its_comparison(self):
        folder = self.root / "a"
        folder.mkdir()
        runs = [{"variant": f"variant-{i + 1:02}", "labels": [["PFC", "CBFC"][i // 2], ["0", "1e-4"][i % 2]],
                 "goodput_gbps": 400 - 400 * (i == 3), "fct_us_p50": 5 * (i < 3), "fct_us_max": 7 * (i < 3),
                 "timeouts": 0, "flows_failed": i // 3} for i in range(4)]
        axes = [{"name": "link", "points": ["PFC", "CBFC"]}, {"name": "loss", "points": ["0", "1e-4"]}]
        (folder / "metrics.json").write_text(json.dumps(
            {"schema_version": 1, "sweep": {"axes": axes, "runs": runs}, "run": {"scenario": "Loss"}}))
        (folder / "summary.txt").write_text("table\n")
        code, _, err = self.run_report(folder)
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(sorted(path.name for path in (folder / "report").iterdir()), ["report.html", "sweep.png"])
        self.assertIn("<td>variant-04</td>", (folder / "report" / "report.html").read_text())
        figure = net_figures.draw_sweep(reading.read_results(folder))
        titles = [panel.get_title() for panel in figure.axes if panel.get_title()]
        self.assertEqual(titles, ["goodput, Gbps", "FCT p50, us", "FCT max, us", "flows failed"])
        self.assertEqual([len(panel.lines) for panel in figure.axes[:4]], [2, 2, 2, 2])
        self.assertEqual(list(figure.axes[3].lines[1].get_ydata()), [0, 1])

    def test_page_is_self_contained(self):
        folder = write_results(self.root / "a", metrics())
        self.run_report(folder, "--out", self.root / "out")
        text = (self.root / "out" / "report.html").read_text()
        parsed = Page(text)
        self.assertEqual(parsed.open, [])
        self.assertNotIn("script", parsed.tags)
        self.assertNotIn("link", parsed.tags)
        self.assertNotIn("http://", text)
        self.assertNotIn("https://", text)
        sources = [value for _, key, value in parsed.attributes if key in ("src", "href")]
        self.assertEqual(len(sources), 3)
        self.assertTrue(all(value.startswith("data:image/png;base64,") for value in sources))
        self.assertIn(("meta", "content", page.POLICY), parsed.attributes)

    def test_page_states_figures_provenance_and_escapes_text(self):
        folder = write_results(self.root / "a", metrics())
        self.run_report(folder, "--out", self.root / "out")
        text = (self.root / "out" / "report.html").read_text()
        self.assertIn("Toy &lt;1B&gt; on 16 GPUs", text)
        self.assertNotIn("<1B>", text)
        self.assertIn("a &amp; b", text)
        self.assertIn("1 assumed, 1 published", text)
        self.assertIn("4 (66.7 %)", text)  # compute: 4 of 6 seconds
        self.assertIn("bytes.nvlink", text)
        self.assertIn("<td>pod0.tor0</td>", text)
        self.assertIn("3 ranks on 2 nodes", text)
        self.assertIn("step 6 s &lt;fine&gt;", text)

    def test_same_results_give_the_same_bytes(self):
        folder = write_results(self.root / "a", metrics())
        for out in ("x", "y"):
            self.run_report(folder, "--out", self.root / out)
        for file in (self.root / "x").iterdir():
            self.assertEqual(file.read_bytes(), (self.root / "y" / file.name).read_bytes(), file.name)

    def test_missing_and_damaged_files_are_named(self):
        folder = write_results(self.root / "a", metrics())
        (folder / "links.csv").unlink()
        (folder / "timeline.json.gz").write_bytes(b"not gzip")
        code, _, err = self.run_report(folder)
        self.assertEqual(code, 0)
        self.assertIn("links.csv is missing", err)
        self.assertIn("timeline.json.gz cannot be read", err)
        text = (folder / "report" / "report.html").read_text()
        self.assertIn("links.csv is missing", text)
        self.assertTrue((folder / "report" / "breakdown.png").exists())
        self.assertFalse((folder / "report" / "links.png").exists())

    def test_truncated_timeline_and_odd_metrics_are_survived(self):
        folder = write_results(self.root / "a", metrics())
        whole = (folder / "timeline.json.gz").read_bytes()
        (folder / "timeline.json.gz").write_bytes(whole[: len(whole) // 2])
        (folder / "metrics.json").write_text('{"schema_version": 2, "breakdown_s": 3, "run": [], "provenance": {}}')
        code, _, err = self.run_report(folder)
        self.assertEqual(code, 0)
        self.assertIn("timeline.json.gz cannot be read", err)
        self.assertIn("schema_version 2", err)

    def test_what_is_no_result_is_a_fault_and_nothing_is_made(self):
        (self.root / "empty").mkdir()
        broken = write_results(self.root / "broken", metrics()) / "metrics.json"
        other = write_results(self.root / "other", metrics()) / "metrics.json"
        broken.write_text(broken.read_text()[:100])
        other.write_text('{"accuracy": 0.93}')
        (self.root / "job.yaml").write_text("name: job\n")
        (self.root / "rows.json").write_text('{"rows": []}')
        (self.root / "binary").write_bytes(bytes(range(256)))
        for name, says in (("empty", "metrics.json is missing"), ("broken", "metrics.json cannot be read"),
                           ("other", "no schema_version"), ("job.yaml", "not a validation"),
                           ("rows.json", "no row gives step_time_s"), ("binary", "not a validation"),
                           ("nowhere", "no such results folder")):
            code, out, err = self.run_report(self.root / name)
            self.assertEqual((code, out, len(err.splitlines())), (2, "", 1), name)
            self.assertIn(str(self.root / name), err)
            self.assertIn(says, err)
            self.assertFalse((self.root / name / "report").exists())

    def test_a_fault_of_one_input_stops_the_report_of_all(self):
        folder = write_results(self.root / "a", metrics())
        code, out, err = self.run_report(folder, self.root / "nowhere", self.root / "nothing")
        self.assertEqual((code, out, len(err.splitlines())), (2, "", 2))
        self.assertFalse((folder / "report").exists())

    def test_a_place_that_cannot_be_written_is_a_fault(self):
        folder = write_results(self.root / "a", metrics())
        for out in (folder / "links.csv", folder / "links.csv" / "x"):
            code, _, err = self.run_report(folder, "--out", out)
            self.assertEqual((code, len(err.splitlines())), (2, 1), err)
            self.assertIn("cannot be written", err)

    def test_several_folders_and_a_validation_give_scaling_curves(self):
        folders = [write_results(self.root / f"g{n}", metrics(n, 96 / n)) for n in (16, 32)]
        validation = self.root / "validate.json"
        validation.write_text(json.dumps({"rows": [
            {"suite": "toy", "system": "A", "gpus": 16, "quantity": "mfu", "published": 0.5, "predicted": 0.4,
             "status": "fitted"},
            {"suite": "toy", "system": "A", "gpus": 16, "quantity": "busbw", "published": 1, "predicted": 1}]}))
        code, _, err = self.run_report(*folders, validation, "--out", self.root / "out")
        self.assertEqual((code, err), (0, ""))
        written = {path.name for path in (self.root / "out").iterdir()}
        self.assertEqual(written, {"breakdown.png", "scaling.png", "report.html", "timeline-1-g16.png",
                                   "links-1-g16.png", "timeline-2-g32.png", "links-2-g32.png"})

    def validation(self):
        """Two systems at two sizes as `rehearse validate --json` writes them: one row fitted, one not held."""
        rows = []
        for system, factor in (("MegaScale 175B", 1.0), ("Megatron-LM 175B", 1.25)):
            for gpus, status in ((256, "fitted"), (12288, "predicted")):
                held = system.startswith("MegaScale") or gpus == 256
                step = 8192 / gpus * factor
                for quantity, value in (("step_time_s", step), ("mfu", 0.5 / factor)):
                    rows.append({"suite": "megascale", "scenario": "file", "system": f"{system} on {gpus:,} GPUs",
                                 "gpus": gpus, "quantity": quantity, "published": value if held else None,
                                 "predicted": value * 1.1, "error": 0.1, "status": status if held else "not held"})
        file = self.root / "validate.json"
        file.write_text(json.dumps({"schema_version": 1, "rows": rows}))
        return file

    def test_a_validation_alone_gives_its_curves_as_figure_and_table(self):
        code, out, err = self.run_report(self.validation(), "--out", self.root / "out")
        self.assertEqual((code, err), (0, ""))
        self.assertEqual({path.name for path in (self.root / "out").iterdir()}, {"scaling.png", "report.html"})
        self.assertEqual((self.root / "out" / "scaling.png").read_bytes()[:8], b"\x89PNG\r\n\x1a\n")
        text = (self.root / "out" / "report.html").read_text()
        self.assertEqual(text.count('src="data:image/png;base64,'), 1)
        # 8192 / 12288 = 0.666667 s published, 10 % more simulated; 8192 / 12288 x 1.25 x 1.1 s where none is held
        row = '<tr><td>MegaScale 175B</td><td class="number">12,288</td><td class="number">0.666667</td>'
        self.assertIn(row + '<td class="number">0.733333</td><td class="number">+10.0 %</td>', text)
        row = '<tr><td>Megatron-LM 175B</td><td class="number">12,288</td><td class="number">-</td>'
        self.assertIn(row + '<td class="number">0.916667</td><td class="number">-</td>', text)
        self.assertIn('<td class="fitted">fitted</td>', text)

    def test_a_curve_goes_through_all_that_was_simulated_of_its_system(self):
        points, absent = reading.scaling_of_validation(self.validation())
        self.assertEqual(absent, [])
        lines = [line for line in figures.draw_scaling(points).axes[0].get_lines() if line.get_linestyle() == "-"]
        self.assertEqual([line.get_label() for line in lines], ["MegaScale 175B", "Megatron-LM 175B"])
        self.assertEqual([list(line.get_xdata()) for line in lines], [[256, 12288]] * 2)

    def test_seeds_give_median_and_range(self):
        values = metrics()
        values["step_time_s"] = {"median": 6.0, "min": 5.5, "max": 6.75}
        folder = write_results(self.root / "a", values)
        code, _, _ = self.run_report(folder)
        self.assertEqual(code, 0)
        self.assertIn("6 [5.5, 6.75]", (folder / "report" / "report.html").read_text())

    def test_window_cuts_the_timeline(self):
        results = reading.read_results(write_results(self.root / "a", metrics()))
        self.assertIsNotNone(figures.draw_timeline(results, (0, 15)))
        self.assertIsNone(figures.draw_timeline(results, (100, 200)))


class ReadingTest(unittest.TestCase):
    def test_system_is_the_name_without_its_gpu_count(self):
        self.assertEqual(reading.system_of("MegaScale 175B on 12,288 GPUs"), "MegaScale 175B")
        self.assertEqual(reading.system_of("GPT 16 GPUs, flow"), "GPT, flow")
        self.assertEqual(reading.system_of("16 GPUs"), "16 GPUs")

    def test_rows_of_one_system_are_one_curve(self):
        points = [point for gpus in (512, 256) for quantity, published, predicted in
                  (("step_time_s", None, 2048 / gpus), ("mfu", 0.5, 0.4))
                  for point in reading._points_of_row({"system": f"M 1B on {gpus} GPUs", "gpus": gpus,
                                                       "quantity": quantity, "published": published,
                                                       "predicted": predicted, "status": "not held"})]
        points += [reading.ScalingPoint("M ablation, row 3", 256, "fitted", 9.0)]
        curves = reading.scaling_curves(points)
        self.assertEqual(list(curves), ["M 1B"])  # one size is no curve
        self.assertEqual(list(curves["M 1B"]), [256, 512])
        self.assertEqual(curves["M 1B"][512], {("step_time_s", "predicted"): 4, ("mfu", "published"): 0.5,
                                               ("mfu", "predicted"): 0.4})

    def test_points_of_a_validation_row(self):
        row = {"system": "x on 8 GPUs", "gpus": 8, "quantity": "step_time_s", "published": 2, "predicted": 3}
        points = reading._points_of_row(row)
        self.assertEqual([(p.system, p.kind, p.step_time_s) for p in points],
                         [("x", "published", 2), ("x", "predicted", 3)])

    def test_phase_comes_from_the_arguments_or_the_name(self):
        self.assertEqual(reading._phase({"name": "Backward mb1"}), "backward")
        self.assertEqual(reading._phase({"name": "x", "args": {"phase": "forward"}}), "forward")
        self.assertEqual(reading._phase({"name": "all_gather"}), "")


if __name__ == "__main__":
    unittest.main()
