"""One HTML page that holds everything: figures inline, tables, provenance. It opens from disk and asks the network for
nothing; its content security policy would stop it if it tried."""

import base64
from collections import Counter
from html import escape

from results import breakdown, middle, scaling_curves, section, spread

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; border-bottom: 1px solid #ccc; }
table { border-collapse: collapse; margin: .8rem 0; } th, td { padding: .2rem .7rem; text-align: left; }
tr:nth-child(even) { background: #f5f5f5; } th { border-bottom: 1px solid #999; } td.number { text-align: right; }
img { max-width: 100%; } pre { background: #f5f5f5; padding: .8rem; overflow-x: auto; font-size: 13px; }
.scroll { overflow-x: auto; } .fitted { color: #0072B2; } .assumed { color: #B34700; } .absent { color: #B34700; }
"""
# What stands first; every other number of metrics.json follows in its own order.
HEADLINES = ["step_time_s", "tokens_per_s", "tokens_per_s_per_gpu", "mfu", "mfu_full_attention", "hfu",
             "model_flops_per_token", "memory_bytes_per_gpu"]
PROVENANCE_ORDER = ["assumed", "fitted", "measured", "published"]


def figure_html(title, png):
    data = base64.b64encode(png).decode("ascii")
    return f'<h2>{escape(title)}</h2>\n<img alt="{escape(title)}" src="data:image/png;base64,{data}">\n'


def number(value):
    """Text of a figure: six digits, and the range over seeds where there is one."""
    one = middle(value)
    if one is None:
        return "-" if value is None or isinstance(value, dict) else str(value)
    text = f"{one:,}" if isinstance(one, int) else f"{one:.6g}"
    if spread(value):
        low, high = spread(value)
        text += f" [{low:.6g}, {high:.6g}]"
    return text


def table(header, rows):
    """rows of cells: text, or (text, css class)."""
    def cell(content):
        text, style = content if isinstance(content, tuple) else (content, "")
        return f'<td class="{escape(style)}">{escape(text)}</td>' if style else f"<td>{escape(text)}</td>"

    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    body = "\n".join("<tr>" + "".join(cell(content) for content in row) + "</tr>" for row in rows)
    return f'<div class="scroll"><table><tr>{head}</tr>\n{body}\n</table></div>\n'


def _columns(all_results, keys, read):
    rows = []
    for key in keys:
        values = [read(results, key) for results in all_results]
        if any(value is not None for value in values):
            rows.append([key] + [(number(value), "number") for value in values])
    return table([""] + [results.name for results in all_results], rows) if rows else "<p>none</p>\n"


def _is_figure(value):
    return middle(value) is not None


def metrics_html(all_results):
    others = []
    for results in all_results:
        others += [key for key, value in results.metrics.items()
                   if _is_figure(value) and key not in HEADLINES + others + ["schema_version"]]
    return _columns(all_results, HEADLINES + others, lambda results, key: results.metrics.get(key))


def breakdown_html(all_results):
    parts = []
    for results in all_results:
        parts += [part for part, _ in breakdown(results) if part not in parts]
    rows = []
    for part in parts:
        row = [part]
        for results in all_results:
            seconds, step = dict(breakdown(results)).get(part), middle(results.metrics.get("step_time_s"))
            share = f" ({100 * seconds / step:.1f} %)" if seconds is not None and step else ""
            row.append((number(seconds) + share, "number"))
        rows.append(row)
    rows.append(["sum - step_time_s"] + [(_closure(results), "number") for results in all_results])
    return table(["seconds"] + [results.name for results in all_results], rows) if parts else "<p>none</p>\n"


def _closure(results):
    step = middle(results.metrics.get("step_time_s"))
    parts = breakdown(results)
    return f"{sum(seconds for _, seconds in parts) - step:.2g}" if parts and step is not None else "-"


def _flatten(value, prefix=""):
    for key, inner in value.items():
        name = f"{prefix}{key}"
        if isinstance(inner, dict) and not _is_figure(inner):
            yield from _flatten(inner, name + ".")
        elif isinstance(inner, list) and all(isinstance(item, dict) for item in inner):
            continue  # a table of its own: row_lists_html
        elif isinstance(inner, list):
            yield name, ", ".join(str(item) for item in inner[:8]) + (", ..." if len(inner) > 8 else "")
        else:
            yield name, inner


def section_html(all_results, name):
    flat = [dict(_flatten(section(results.metrics, name))) for results in all_results]
    keys = list(dict.fromkeys(key for one in flat for key in one))
    by_id = {id(results): one for results, one in zip(all_results, flat)}
    return _columns(all_results, keys, lambda results, key: by_id[id(results)].get(key))


def row_lists_html(results, name, rows_most=10):
    """Lists of objects inside a section (busiest links, for example), each as a table."""
    parts = []
    for key, rows in section(results.metrics, name).items():
        if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
            continue
        columns = list(dict.fromkeys(column for row in rows for column in row))
        body = [[(number(row.get(column)), "number" if _is_figure(row.get(column)) else "") for column in columns]
                for row in rows[:rows_most]]
        parts.append(f"<p>{escape(results.name)}: {escape(key)}</p>\n" + table(columns, body))
    return "".join(parts)


def provenance_html(results):
    notes = results.metrics.get("provenance")
    notes = [note for note in notes if isinstance(note, dict)] if isinstance(notes, list) else []
    if not notes:
        return f"<p class=\"absent\">{escape(results.name)} states no provenance of its parameters.</p>\n"
    kinds = Counter(str(note.get("provenance", "?")) for note in notes)
    counts = ", ".join(f"{kinds[kind]} {kind}" for kind in PROVENANCE_ORDER + sorted(set(kinds) - set(PROVENANCE_ORDER))
                       if kinds[kind])

    def order(note):
        kind = str(note.get("provenance", "?"))
        return PROVENANCE_ORDER.index(kind) if kind in PROVENANCE_ORDER else len(PROVENANCE_ORDER)

    rows = []
    for note in sorted(notes, key=order):
        kind = str(note.get("provenance", "?"))
        rows.append([str(note.get("key", "")), (str(note.get("value", "")), "number"), (kind, kind),
                     str(note.get("source", ""))])
    return f"<p>{escape(results.name)}: {escape(counts)}</p>\n" + table(["key", "value", "provenance", "source"], rows)


def placement_html(results):
    if not results.placement:
        return ""
    columns = list(results.placement[0])
    lines = []
    for name in ("node", "host", "pod"):
        if name in columns:
            lines.append(f"{len({row[name] for row in results.placement}):,} {name}s")
    where = " on " + ", ".join(lines) if lines else ""
    return f"<p>{escape(results.name)}: {len(results.placement):,} ranks{where}</p>\n"


def scaling_html(points):
    """The numbers behind the scaling curves; error = simulated / published - 1."""
    rows = []
    for system, sizes in scaling_curves(points).items():
        for gpus, size in sizes.items():
            row = [system, (f"{gpus:,}", "number")]
            for quantity, factor in (("step_time_s", 1), ("mfu", 100)):
                use = "predicted" if (quantity, "predicted") in size else "fitted"
                simulated, published = size.get((quantity, use)), size.get((quantity, "published"))
                error = f"{100 * (simulated / published - 1):+.1f} %" if simulated and published else "-"
                row += [(number(value and value * factor), "number") for value in (published, simulated)]
                row += [(error, "number")] + ([(use, use)] if quantity == "mfu" else [])
            rows.append(row)
    if not rows:
        return ""
    header = ["system", "GPUs", "published s", "simulated s", "error", "published MFU %", "simulated MFU %", "error",
              "use"]
    return "<h2>Numbers of the scaling curves</h2>\n" + table(header, rows)


def page(title, all_results, figures, absent, points=()):
    """figures: [(title, png bytes)]; absent: sentences about what is missing; points: of the scaling curves."""
    parts = [f"<h1>{escape(title)}</h1>\n"]
    if absent:
        items = "".join(f"<li>{escape(sentence)}</li>" for sentence in absent)
        parts.append(f'<h2>Not in this report</h2>\n<ul class="absent">{items}</ul>\n')
    described = [results for results in all_results if results.metrics]
    if described:
        parts.append("<h2>Metrics</h2>\n" + metrics_html(described))
    parts += [figure_html(name, png) for name, png in figures]
    parts.append(scaling_html(points))
    if described:
        steps = [results for results in described if "net" not in results.metrics and "sweep" not in results.metrics]
        if steps:
            parts.append("<h2>Breakdown of the step</h2>\n" + breakdown_html(steps))
        for name, title in (("net", "Traffic"), ("sweep", "Sweep")):
            of_kind = [results for results in described if name in results.metrics]
            if of_kind:
                parts.append(f"<h2>{title}</h2>\n" + (section_html(of_kind, name) if name == "net" else "")
                             + "".join(row_lists_html(one, name, 1000) for one in of_kind))
        parts.append("<h2>Network</h2>\n" + section_html(described, "network")
                     + "".join(row_lists_html(one, "network") for one in described))
        if steps:
            parts.append("<h2>Provenance of parameters</h2>\n" + "".join(provenance_html(one) for one in steps))
        parts.append("<h2>Runs</h2>\n" + section_html(described, "run"))
    parts += [placement_html(results) for results in all_results]
    parts += [f"<h2>Summary: {escape(results.name)}</h2>\n<pre>{escape(results.summary)}</pre>\n"
              for results in all_results if results.summary]
    return ("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
            f"<meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n"
            f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
            + "".join(parts) + "</body>\n</html>\n")
