"""Figures of `rehearse net`: one run, and the comparison of a sweep. Each function returns a figure, or None."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402  (the back-end is chosen first)

from results import section  # noqa: E402

# What a sweep may show, in this order, and whether a logarithmic axis helps; of it the first that differ are drawn.
QUANTITIES = [("goodput_gbps", "goodput, Gbps"), ("fct_us_p50", "FCT p50, us"), ("fct_us_max", "FCT max, us"),
              ("fct_us_max_of_pattern_2", "FCT max of the second pattern, us"), ("flows_failed", "flows failed"),
              ("stalled_us_max", "longest wait for timeouts, us"), ("timeouts", "timeouts"), ("pauses", "pauses"),
              ("link_replays", "link replays"), ("queue_peak_bytes", "queue peak, B"), ("ecn_marks", "ECN marks")]
PANELS_MOST = 6


def draw_net(results):
    """Left: how many flows have ended by when, as completion time over idle time. Right: the longest queue in time."""
    if not results.flows:
        return None
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.6))
    slowdowns = sorted(flow["slowdown"] for flow in results.flows if flow["end"] == "whole")
    left.step(slowdowns, [(i + 1) / len(results.flows) for i in range(len(slowdowns))], where="post")
    left.set_ylim(0, 1.02)
    if slowdowns and slowdowns[-1] > 20 * slowdowns[0] > 0:
        left.set_xscale("log")
    left.set_xlabel("completion time / time alone on an idle fabric")
    left.set_ylabel(f"share of {len(results.flows):,} flows")
    if results.series:
        times = [sample["time_us"] for sample in results.series]
        right.plot(times, [sample["queue_longest_bytes"] / 1e3 for sample in results.series])
        right.set_xlabel("us")
        right.set_ylabel("longest queue at the instant, kB")
    else:
        right.set_axis_off()
    figure.tight_layout()
    return figure


def _differs(values):
    return max(values) - min(values) > 0.01 * max(values)


def _figure(run, key):
    """A time or a goodput of nothing is none: no flow of the run ended whole."""
    value = run.get(key, 0)
    return None if value == 0 and key.startswith(("fct_", "goodput_")) else value


def draw_sweep(results):
    """Along the last axis of the sweep what differs between its runs, a line for every choice on the other axes."""
    sweep = section(results.metrics, "sweep")
    runs, axes = sweep.get("runs", []), sweep.get("axes", [])
    if not runs or not axes:
        return None
    shown = [(key, label) for key, label in QUANTITIES if _differs([run.get(key, 0) for run in runs])][:PANELS_MOST]
    if not shown:
        return None
    points = axes[-1]["points"]
    lines = {}
    for run in runs:
        lines.setdefault(", ".join(run["labels"][:-1]), {})[run["labels"][-1]] = run
    columns = min(3, len(shown))
    rows = -(-len(shown) // columns)
    figure, panels = plt.subplots(rows, columns, figsize=(4 * columns, 3.1 * rows), squeeze=False)
    for panel in panels.flat[len(shown):]:
        panel.set_axis_off()
    for panel, (key, label) in zip(panels.flat, shown):
        for name, line in lines.items():
            panel.plot(range(len(points)), [_figure(line[point], key) for point in points], marker="o", markersize=3,
                       label=name)
        values = [value for value in (_figure(run, key) for run in runs) if value is not None]
        if min(values) > 0 and max(values) > 20 * min(values):
            panel.set_yscale("log")
        elif min(values) == 0 and max(values) > 1000:
            panel.set_yscale("symlog")
        panel.set_title(label, fontsize=9)
        long = max(len(point) for point in points) * len(points) > 45
        panel.set_xticks(range(len(points)), points, rotation=30 if long else 0, ha="right" if long else "center",
                         fontsize=7)
        panel.set_xlabel(axes[-1]["name"], fontsize=8)
    if len(lines) > 1:
        handles, labels = panels.flat[0].get_legend_handles_labels()
        figure.legend(handles, labels, ncol=3, fontsize=7, frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    figure.tight_layout()
    return figure
