#!/usr/bin/python3
"""Figures and one self-contained HTML page from results folders.

Example: report.py results/megascale_175b_12288-1a2b3c --out report
Several folders are compared side by side; a validation JSON adds published points to the scaling curves.
"""

import argparse
import re
import sys
from pathlib import Path


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("inputs", nargs="+", metavar="DIR", type=Path,
                        help="results folder of `rehearse run` or `rehearse net`, or the JSON of `rehearse validate`")
    parser.add_argument("--out", type=Path, metavar="DIR",
                        help="where the figures and report.html go (default: DIR/report)")
    parser.add_argument("--window", type=float, nargs=2, metavar=("FROM_MS", "TO_MS"),
                        help="part of the timeline to draw")
    return parser.parse_args(arguments)


def file_name(kind, all_results, index):
    """links.png for one folder, links-2-NAME.png for the second of several."""
    if len(all_results) == 1:
        return f"{kind}.png"
    return f"{kind}-{index + 1}-{re.sub(r'[^A-Za-z0-9]+', '_', all_results[index].path.resolve().name)}.png"


def draw_all(figures, all_results, points, window_us):
    """[(file name, title, figure)] of everything that can be drawn."""
    import net_figures

    drawn = [("breakdown.png", "Where a step goes", figures.draw_breakdown(all_results)),
             ("scaling.png", "Scaling", figures.draw_scaling(points))]
    for i, results in enumerate(all_results):
        drawn.append((file_name("timeline", all_results, i), f"Timeline: {results.name}",
                      figures.draw_timeline(results, window_us)))
        drawn.append((file_name("links", all_results, i), f"Links: {results.name}", figures.draw_links(results)))
        drawn.append((file_name("flows", all_results, i), f"Flows: {results.name}", net_figures.draw_net(results)))
        drawn.append((file_name("sweep", all_results, i), f"Sweep: {results.name}", net_figures.draw_sweep(results)))
    return [one for one in drawn if one[2] is not None]


def read_inputs(reading, paths):
    """(results folders, points, faults): a fault is an input that is neither a results folder nor a validation."""
    all_results, points, faults = [], [], []
    for path in paths:
        if path.is_dir():
            results = reading.read_results(path)
            all_results.append(results)
            if not results.metrics:
                faults.append(f"{path}: not a results folder: "
                              + next(why for why in results.absent if ": metrics.json " in why).partition(": ")[2])
        elif path.exists():
            more, why = reading.scaling_of_validation(path)
            points += more
            faults += why
        else:
            faults.append(f"{path}: no such results folder or file")
    return all_results, reading.scaling_of_runs(all_results) + points, faults


def write_report(figures, out, all_results, points, window_us):
    """Writes figures and page; OSError where `out` cannot take them."""
    import page

    out.mkdir(parents=True, exist_ok=True)
    shown = []
    for name, title, figure in draw_all(figures, all_results, points, window_us):
        png = figures.png_bytes(figure)
        (out / name).write_bytes(png)
        shown.append((title, png))
        print(out / name)
    title = " / ".join(results.name for results in all_results) or "Validation"
    absent = [sentence for results in all_results for sentence in results.absent]
    (out / "report.html").write_text(page.page(title, all_results, shown, absent, points), encoding="utf-8")
    print(out / "report.html")
    for sentence in absent:
        print(f"absent: {sentence}", file=sys.stderr)


def main(arguments=None):
    options = parse(arguments)
    import results as reading

    all_results, points, faults = read_inputs(reading, options.inputs)
    if faults:
        print("\n".join(faults), file=sys.stderr)
        return 2
    try:
        import figures
    except ImportError as fault:
        print(f"figures need matplotlib and numpy ({fault}); install python3-matplotlib", file=sys.stderr)
        return 2
    window_us = [1e3 * edge for edge in options.window] if options.window else None
    out = options.out or (options.inputs[0] / "report" if options.inputs[0].is_dir() else Path("report"))
    try:
        write_report(figures, out, all_results, points, window_us)
    except OSError as fault:
        print(f"{out}: the report cannot be written: {fault.strerror or fault}; choose another --out", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
