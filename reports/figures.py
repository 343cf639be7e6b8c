"""Figures from results. Each function returns a matplotlib figure, or None when there is nothing to draw."""

import io

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402  (the back-end is chosen first)
import numpy as np  # noqa: E402
from matplotlib.lines import Line2D  # noqa: E402
from matplotlib.patches import Patch  # noqa: E402

from results import PARTS, STREAMS, TIERS, breakdown, middle, scaling_curves, spread  # noqa: E402

# Okabe and Ito's palette, which stays apart for colour-blind readers, and greys for what nobody wants.
COLOURS = {
    "compute": "#0072B2", "optimizer": "#56B4E9", "tp_exposed": "#E69F00", "ep_exposed": "#F0E442",
    "pp_exposed": "#CC79A7", "dp_exposed": "#D55E00", "bubble": "#BBBBBB", "straggler_wait": "#009E73",
    "data": "#8B5A2B", "other": "#555555",
}
DARK = {"compute", "data", "other"}  # parts on which black text is hard to read
FORWARD_SHADE = 0.45  # forward computation is drawn this much nearer to white than backward
RANKS_DRAWN = 16
LINKS_PER_TIER = 3

plt.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "figure.dpi": 120})


def png_bytes(figure):
    """The figure as PNG, byte for byte the same for the same figure; closes it."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", bbox_inches="tight", metadata={"Software": None})
    plt.close(figure)
    return buffer.getvalue()


def _colour(part, phase=""):
    red, green, blue = matplotlib.colors.to_rgb(COLOURS.get(part, COLOURS["other"]))
    if part == "compute" and phase == "forward":
        red, green, blue = (c + (1 - c) * FORWARD_SHADE for c in (red, green, blue))
    return red, green, blue


def _shorten(text, length=44):
    return text if len(text) <= length else text[: length - 3] + "..."


def draw_breakdown(all_results):
    """One horizontal bar per run: where a step's seconds go, mean over ranks."""
    rows = [(results, breakdown(results)) for results in all_results]
    rows = [(results, parts) for results, parts in rows if parts]
    if not rows:
        return None
    figure, axes = plt.subplots(figsize=(9, 1.5 + 0.55 * len(rows)))
    longest = max(sum(seconds for _, seconds in parts) for _, parts in rows)
    for y, (results, parts) in enumerate(rows):
        left = 0.0
        for part, seconds in parts:
            axes.barh(y, seconds, left=left, height=0.6, color=_colour(part), edgecolor="white", linewidth=0.5)
            if longest > 0 and seconds / longest > 0.04:
                axes.text(left + seconds / 2, y, f"{seconds:.3g}", ha="center", va="center", fontsize=7,
                          color="white" if part in DARK else "black")
            left += seconds
        step = results.metrics.get("step_time_s")
        if spread(step):
            low, high = spread(step)
            axes.errorbar(middle(step), y, xerr=[[middle(step) - low], [high - middle(step)]], color="black", capsize=3)
    axes.set_yticks(range(len(rows)), [_shorten(results.name) for results, _ in rows])
    axes.invert_yaxis()
    axes.set_xlabel("seconds of one step (mean over ranks)")
    used = [part for part in PARTS if any(dict(parts).get(part, 0) > 0 for _, parts in rows)]
    axes.legend(handles=[Patch(color=_colour(part), label=part) for part in used], ncol=5, fontsize=7, frameon=False,
                loc="lower center", bbox_to_anchor=(0.5, 1.0))
    return figure


def _ranks_drawn(spans):
    ranks = sorted({span.rank for span in spans})
    if len(ranks) <= RANKS_DRAWN:
        return ranks
    return [ranks[i] for i in np.linspace(0, len(ranks) - 1, RANKS_DRAWN).round().astype(int)]


def draw_timeline(results, window_us=None):
    """Sampled ranks over time: one lane per rank and stream; forward computation light, backward full colour."""
    spans = results.spans
    if window_us:
        spans = [span for span in spans if span.start < window_us[1] and span.start + span.length > window_us[0]]
    if not spans:
        return None
    ranks = set(_ranks_drawn(spans))
    lanes = sorted({(span.rank, span.stream) for span in spans if span.rank in ranks})
    lane_of = {lane: y for y, lane in enumerate(lanes)}
    bars = {}
    for span in spans:
        if span.rank in ranks:
            key = (lane_of[span.rank, span.stream], span.part, span.phase)
            bars.setdefault(key, []).append((span.start / 1e3, span.length / 1e3))
    figure, axes = plt.subplots(figsize=(11, 1.2 + 0.22 * len(lanes)))
    for (y, part, phase), intervals in bars.items():
        axes.broken_barh(intervals, (y - 0.42, 0.84), facecolors=[_colour(part, phase)], linewidth=0)
    for y, (rank, _) in enumerate(lanes):
        if y > 0 and lanes[y - 1][0] != rank:
            axes.axhline(y - 0.5, color="#CCCCCC", linewidth=0.6)
    axes.set_yticks(range(len(lanes)), _lane_labels(results, lanes), fontsize=7)
    axes.set_ylim(len(lanes) - 0.5, -0.5)
    if window_us:
        axes.set_xlim(window_us[0] / 1e3, window_us[1] / 1e3)
    axes.set_xlabel("milliseconds")
    used = sorted({(part, phase if part == "compute" else "") for _, part, phase in bars}, key=_legend_order)
    handles = [Patch(color=_colour(part, phase), label=f"{part}, {phase}" if phase else part) for part, phase in used]
    axes.legend(handles=handles, ncol=6, fontsize=7, frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    return figure


def _lane_labels(results, lanes):
    """The rank's name on its first lane, the stream alone on the others."""
    labels = []
    for y, (rank, stream) in enumerate(lanes):
        name = "" if y > 0 and lanes[y - 1][0] == rank else results.rank_names.get(rank, f"rank {rank}") + "  "
        labels.append(f"{name}{STREAMS.get(stream, stream)}")
    return labels


def _legend_order(entry):
    part, phase = entry
    return (PARTS.index(part) if part in PARTS else len(PARTS), part, phase != "forward", phase)


def draw_links(results):
    """Left: how many links of each tier are how busy. Right: the busiest of each tier."""
    if not results.links:
        return None
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.6))
    tiers = [tier for tier in TIERS if any(link["tier"] == tier for link in results.links)]
    tiers += sorted({link["tier"] for link in results.links} - set(TIERS))
    colour_of = {tier: f"C{i}" for i, tier in enumerate(tiers)}
    top = max(1e-9, max(link["utilisation"] for link in results.links))
    edges = np.linspace(0, top * 100, 41)
    for tier in tiers:
        busy = [link["utilisation"] * 100 for link in results.links if link["tier"] == tier]
        left.hist(busy, bins=edges, histtype="step", linewidth=1.3, color=colour_of[tier],
                  label=f"{tier} ({len(busy)} links, mean {np.mean(busy):.2g} %)")
    left.set_yscale("log")
    left.set_ylabel("links")
    left.set_xlabel("utilisation over the step, %")
    left.legend(fontsize=7, frameon=False)
    order = sorted(results.links, key=lambda link: (-link["utilisation"], link["link"]))
    kept = {link["link"] for tier in tiers for link in [x for x in order if x["tier"] == tier][:LINKS_PER_TIER]}
    busiest = [link for link in order if link["link"] in kept]
    right.barh(range(len(busiest)), [link["utilisation"] * 100 for link in busiest],
               color=[colour_of[link["tier"]] for link in busiest])
    right.set_yticks(range(len(busiest)), [_shorten(f'{link["from"]} > {link["to"]}', 40) for link in busiest],
                     fontsize=7)
    right.invert_yaxis()
    right.set_xlabel("utilisation of the busiest links, %")
    figure.tight_layout()
    return figure


def draw_scaling(points):
    """Step time and MFU against GPUs: one colour and line per system through what was simulated, fitted points crossed,
    published figures as hollow rings."""
    curves = scaling_curves(points)
    if not curves:
        return None
    figure, panels = plt.subplots(1, 2, figsize=(11, 4.2))
    for axes, (quantity, factor, label) in zip(panels, [("step_time_s", 1, "step time, s"), ("mfu", 100, "MFU, %")]):
        for i, (system, sizes) in enumerate(curves.items()):
            _draw_curve(axes, f"C{i % 10}", system, sizes, quantity, factor)
        axes.set_xscale("log", base=2)
        axes.set_xlabel("GPUs")
        axes.set_ylabel(label)
        axes.grid(axis="y", color="#EEEEEE")
        ticks = sorted({gpus for sizes in curves.values() for gpus in sizes})
        if len(ticks) <= 12:
            axes.set_xticks(ticks, [f"{gpus:,}" for gpus in ticks], rotation=45, fontsize=7)
            axes.minorticks_off()
    times = [value for sizes in curves.values() for size in sizes.values()
             for (quantity, _), value in size.items() if quantity == "step_time_s" and value > 0]
    if times and max(times) > 4 * min(times):
        panels[0].set_yscale("log")
    kinds = {kind for sizes in curves.values() for size in sizes.values() for _, kind in size}
    handles = [Line2D([], [], color=f"C{i % 10}", label=_shorten(system, 32)) for i, system in enumerate(curves)]
    handles += [Line2D([], [], color="black", linestyle="none", label=kind, **MARKS[kind]) for kind in MARKS
                if kind in kinds]
    figure.legend(handles=handles, ncol=4, fontsize=7, frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    figure.tight_layout()
    return figure


MARKS = {"predicted": {"marker": "."}, "fitted": {"marker": "x"},
         "published": {"marker": "o", "markerfacecolor": "none", "markersize": 8}}


def _draw_curve(axes, colour, system, sizes, quantity, factor):
    simulated = {}
    for kind, mark in MARKS.items():
        of_kind = {gpus: size[quantity, kind] * factor for gpus, size in sizes.items() if (quantity, kind) in size}
        axes.plot(list(of_kind), list(of_kind.values()), color=colour, linestyle="none", **mark)
        if kind != "published":
            simulated = of_kind | simulated
    line = sorted(simulated.items())
    if line:
        axes.plot(*zip(*line), color=colour, label=system, linewidth=1)
