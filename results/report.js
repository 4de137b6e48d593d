// Draws the charts of a report from the data in the page. Chart.js must be there before.
(function () {
        "use strict";
        const data = JSON.parse(document.getElementById("data").textContent);
        const root = document.documentElement;
        const charts = [];
        root.dataset.errors = "";
        window.addEventListener("error", (e) => { root.dataset.errors += e.message + "\n"; });

        const color = (name) => getComputedStyle(root).getPropertyValue("--" + name).trim();
        const setColor = (i) => color("set" + (i % 6));
        const alpha = (hex, a) => hex + Math.round(a * 255).toString(16).padStart(2, "0");
        const digits = (v) => {
                const m = Math.abs(v);
                return v === 0 ? "0" : v.toLocaleString("en", {
                        minimumFractionDigits: 0,
                        maximumFractionDigits: m >= 99.95 ? 0 : m >= 9.995 ? 1 : m >= 0.9995 ? 2 : 3 });
        };
        // Under a log axis only 1, 2 and 5 get a label.
        const axisNumber = (v, log) => {
                if (!log)
                        return digits(v);
                const first = v / Math.pow(10, Math.floor(Math.log10(v) + 1e-9));
                return [1, 2, 5].some((d) => Math.abs(first - d) < 1e-6) ? digits(v) : "";
        };
        const YWIDTH = 58;

        // Episodes, and the time until the stream had recovered, behind the lines.
        const shade = {
                id: "shade",
                beforeDatasetsDraw(chart, args, options) {
                        const x = chart.scales.x, area = chart.chartArea, g = chart.ctx;
                        for (const e of options.episodes || []) {
                                const end = e.end === null ? x.max : e.end;
                                const after = e.after === null ? end : e.after;
                                const rect = (from, to, a) => {
                                        const left = Math.max(x.getPixelForValue(from), area.left);
                                        const right = Math.min(x.getPixelForValue(to), area.right);
                                        g.fillStyle = alpha(color("episode"), a);
                                        if (right > left)
                                                g.fillRect(left, area.top, Math.max(right - left, 1.5), area.bottom - area.top);
                                };
                                rect(end, after, 0.16);
                                rect(e.begin, end, 0.38);
                        }
                }
        };

        function options(spec) {
                const text = color("quiet"), line = color("line");
                return {
                        animation: false, responsive: true, maintainAspectRatio: false, parsing: false, normalized: true,
                        interaction: { mode: spec.mode || "nearest", axis: "x", intersect: false },
                        plugins: {
                                legend: { display: false },
                                shade: { episodes: spec.episodes },
                                tooltip: { callbacks: {
                                        title: (items) => items.length ? spec.xTitle(items[0]) : "",
                                        label: (item) => " " + item.dataset.label + ": " + digits(item.parsed.y) + " " + spec.unit
                                } }
                        },
                        scales: {
                                x: Object.assign({ grid: { color: line, drawTicks: false }, ticks: { color: text, maxRotation: 0 } }, spec.x()),
                                y: { type: spec.log ? "logarithmic" : "linear", beginAtZero: !spec.log,
                                        afterFit: (axis) => { axis.width = YWIDTH; },
                                        grid: { color: line, drawTicks: false },
                                        ticks: { color: text, autoSkip: !spec.log, callback: (v) => axisNumber(v, spec.log) } }
                        }
                };
        }

        // A chart's points, for those who want its figures or cannot see its lines.
        function pointsTable(spec) {
                const sets = spec.sets(), rows = new Map(), table = document.createElement("table");
                const line = (cells, tag) => {
                        const row = table.insertRow();
                        cells.forEach((text) => { row.appendChild(document.createElement(tag)).textContent = text; });
                };
                sets.forEach((set, i) => set.data.forEach((p) => {
                        if (!rows.has(p.x))
                                rows.set(p.x, Array(sets.length).fill(null));
                        rows.get(p.x)[i] = p.y;
                }));
                line([""].concat(sets.map((s) => s.label + ", " + spec.unit)), "th");
                [...rows.keys()].sort((a, b) => a - b).forEach((x) => line(
                        [spec.xTitle({ parsed: { x }, label: spec.labels ? spec.labels[x] : "" })]
                                .concat(rows.get(x).map((y) => y === null ? "-" : digits(y))), "td"));
                return table;
        }

        function tableButton(canvas, spec) {
                const card = canvas.closest(".chart"), button = card.querySelector("button.table");
                button.addEventListener("click", () => {
                        let box = card.querySelector(".points");
                        const shown = box !== null;
                        if (shown) {
                                box.remove();
                        } else {
                                box = document.createElement("div");
                                box.className = "scroll points";
                                box.append(pointsTable(spec));
                                card.append(box);
                        }
                        canvas.parentElement.hidden = !shown;
                        button.setAttribute("aria-pressed", !shown);
                });
        }

        function draw(canvas, spec) {
                const make = () => new Chart(canvas, {
                        type: spec.type || "line", data: { labels: spec.labels, datasets: spec.sets() }, options: options(spec),
                        plugins: [shade]
                });
                const entry = { chart: make(), again() { entry.chart.destroy(); entry.chart = make(); } };
                charts.push(entry);
                const button = canvas.closest(".chart").querySelector("button.log");
                if (button)
                        button.addEventListener("click", () => {
                                spec.log = !spec.log;
                                button.setAttribute("aria-pressed", spec.log);
                                entry.again();
                        });
                tableButton(canvas, spec);
                return entry;
        }

        const points = (step, values) => values.map((v, i) => ({ x: i * step, y: v }));
        const lineSet = (label, points, shadeOf, dashed) => ({
                label, data: points, borderColor: shadeOf, backgroundColor: shadeOf, borderWidth: dashed ? 1.25 : 1.75,
                borderDash: dashed ? [4, 3] : [], pointHitRadius: 8, spanGaps: false,
                // Bursts leave points without neighbours, which no line would show.
                pointRadius: points.filter((p) => p.y === null).length > points.length / 3 ? 2 : 0
        });

        const time = (phase) => ({ type: "linear", min: 0, max: phase.seconds, ticks: {
                color: color("quiet"), maxRotation: 0, callback: (v) => digits(v) + " s" } });

        const kinds = {
                rate(canvas, phase, stream) {
                        return draw(canvas, {
                                unit: "/s", x: () => time(phase), episodes: stream.episodes, log: stream.wide,
                                xTitle: (i) => digits(i.parsed.x) + " s",
                                sets: () => stream.series.map((s) => lineSet(data.sets[s.set], points(s.step, s.iops), setColor(s.set)))
                        });
                },
                latency(canvas, phase, stream) {
                        return draw(canvas, {
                                unit: "ms", x: () => time(phase), episodes: stream.episodes, log: stream.wide,
                                xTitle: (i) => digits(i.parsed.x) + " s",
                                sets: () => stream.series.flatMap((s) => [
                                        lineSet(data.sets[s.set] + " average", points(s.step, s.mean), setColor(s.set)),
                                        lineSet(data.sets[s.set] + " p99", points(s.step, s.p99), setColor(s.set), true)])
                        });
                },
                percentiles(canvas, phase, stream) {
                        // The axis is 1 / (1 - p): each step of ten is one more nine.
                        const label = (v) => {
                                const nines = Math.log10(v), whole = Math.abs(nines - Math.round(nines)) < 1e-6 && v > 1;
                                const narrow = canvas.clientWidth < 560;
                                if (narrow ? !whole || Math.round(nines) % 2 === 0 : !whole && Math.abs(v - 2) > 1e-6)
                                        return "";
                                return +(100 * (1 - 1 / v)).toFixed(6) + " %";
                        };
                        return draw(canvas, {
                                unit: "ms", log: true, x: () => ({ type: "logarithmic", min: 1.1, max: stream.nines,
                                        ticks: { color: color("quiet"), maxRotation: 0, autoSkip: false, callback: label } }),
                                xTitle: (i) => "percentile " + +(100 * (1 - 1 / i.parsed.x)).toFixed(4),
                                sets: () => stream.curves.map((c) => lineSet(data.sets[c.set], c.points.map((p) => ({ x: p[0], y: p[1] })), setColor(c.set)))
                        });
                },
                histogram(canvas, phase, stream) {
                        return draw(canvas, {
                                type: "bar", unit: "%", labels: stream.bins.map((b) => digits(b)), mode: "index",
                                x: () => ({ ticks: { color: color("quiet"), maxRotation: 0, autoSkipPadding: 12 } }),
                                xTitle: (i) => "up to " + i.label + " ms",
                                sets: () => stream.shares.map((s) => ({ label: data.sets[s.set], data: s.values.map((v, i) => ({ x: i, y: v })),
                                        backgroundColor: alpha(setColor(s.set), 0.75), categoryPercentage: 0.95, barPercentage: 0.98 }))
                        });
                },
                bars(canvas, bars) {
                        return draw(canvas, {
                                type: "bar", unit: bars.unit, labels: bars.labels, mode: "index",
                                x: () => ({ ticks: { color: color("quiet"), maxRotation: 40, autoSkip: false } }),
                                xTitle: (i) => i.label,
                                sets: () => [{ label: bars.figure, data: bars.values.map((v, i) => ({ x: i, y: v })),
                                        backgroundColor: bars.labels.map((l, i) => alpha(setColor(i), 0.8)), maxBarThickness: 60 }]
                        });
                }
        };

        function start(canvas) {
                if (canvas.dataset.drawn || canvas.closest("details:not([open])"))
                        return;
                canvas.dataset.drawn = "1";
                if (canvas.dataset.chart === "bars") {
                        kinds.bars(canvas, data.bars[+canvas.dataset.bars]);
                        return;
                }
                const phase = data.phases[+canvas.dataset.phase];
                kinds[canvas.dataset.chart](canvas, phase, phase.streams[+canvas.dataset.stream]);
        }

        const startAll = () => document.querySelectorAll("canvas[data-chart]").forEach(start);
        document.querySelectorAll("details").forEach((d) => d.addEventListener("toggle", startAll));
        for (const media of ["(prefers-color-scheme: dark)", "print"])
                matchMedia(media).addEventListener("change", () => charts.forEach((c) => c.again()));
        addEventListener("beforeprint", () => {
                document.querySelectorAll("details.figures").forEach((d) => { d.open = true; });
                startAll();
                charts.forEach((c) => c.chart.resize());
        });
        try {
                startAll();
        } catch (e) {
                root.dataset.errors += e.message + "\n";
                throw e;
        }
        root.dataset.drawn = charts.length;
})();
