#include "src/app/report_page.h"

namespace sturnus::app {

const std::string_view report_style = R"css(
:root {
  color-scheme: light;
  --ink: #22272e; --soft: #66707c; --line: #e3e6ea; --wash: #f6f7f9; --blue: #2b6cb0;
}
* { box-sizing: border-box; }
body {
  margin: 0; background: #fff; color: var(--ink);
  font: 400 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
}
main { max-width: 72rem; margin: 0 auto; padding: 2.5rem clamp(1rem, 4vw, 2.5rem) 4rem; }
h1 { font-size: clamp(1.9rem, 5vw, 2.7rem); font-weight: 300; letter-spacing: -.02em; line-height: 1.15; margin: .1em 0 .2em; }
h2 { font-size: 1.45rem; font-weight: 350; margin: 3.2rem 0 .6rem; padding-top: 1.1rem; border-top: 1px solid var(--line); }
h3 { font-size: 1rem; font-weight: 600; margin: 1.8rem 0 .5rem; }
p { margin: .5rem 0; }
code { font: .92em ui-monospace, Menlo, Consolas, monospace; }
.kicker { color: var(--blue); font-size: .8rem; font-weight: 600; letter-spacing: .09em; text-transform: uppercase; margin: 0; }
.subtitle { color: var(--soft); margin: 0 0 1.6rem; }
.caption { color: var(--soft); font-size: .92rem; max-width: 46rem; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(10.5rem, 1fr)); gap: .8rem; }
.tile { background: var(--wash); border-radius: 8px; padding: .8rem 1rem; display: flex; flex-direction: column; }
.tile span { color: var(--soft); font-size: .85rem; }
.tile strong { font-size: 1.2rem; font-weight: 400; font-variant-numeric: tabular-nums; white-space: nowrap; }
.notes { margin: 1.4rem 0 0; padding: .8rem 1rem .8rem 2rem; background: #fff8e8; border-left: 3px solid #e0a526; border-radius: 0 8px 8px 0; font-size: .95rem; }
.panels { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 27rem), 1fr)); gap: 1.2rem 1.8rem; align-items: start; margin: .8rem 0; }
figure { margin: 0; min-width: 0; }
figcaption { font-weight: 600; font-size: .95rem; margin-bottom: .1rem; }
.plot { height: 340px; }
.plot .modebar-container { top: -26px !important; }  /* beside the caption, off the legend */
.panels h3 { margin-top: .2rem; }
.choice { font-size: .92rem; color: var(--soft); }
.choice button { font: inherit; color: var(--ink); background: #fff; border: 1px solid #c9ced6; padding: .2rem .8rem; cursor: pointer; }
.choice button:first-of-type { border-radius: 6px 0 0 6px; margin-left: .4rem; }
.choice button:last-of-type { border-radius: 0 6px 6px 0; }
.choice button + button { border-left: 0; }
.choice button[aria-pressed=true] { background: var(--ink); border-color: var(--ink); color: #fff; }
.scroll { overflow-x: auto; margin: .6rem 0; }
table { border-collapse: collapse; font-size: .93rem; font-variant-numeric: tabular-nums; }
th { text-align: left; font-weight: 600; border-bottom: 1px solid #b9c0c9; }
th, td { padding: .32rem 1.6rem .32rem 0; vertical-align: top; }
td { border-bottom: 1px solid var(--line); white-space: nowrap; }
.metrics td:last-child { white-space: normal; color: var(--soft); min-width: 15rem; }
.pairs { width: 100%; }
.pairs td { white-space: normal; overflow-wrap: anywhere; }
.pairs td:first-child { color: var(--soft); width: 55%; }
@media (max-width: 34rem) {
  main { padding-top: 1.4rem; }
  .plot { height: 300px; }
  .tiles { grid-template-columns: 1fr 1fr; }
  .tile strong { font-size: 1.08rem; }
  th, td { padding-right: .9rem; }
  .metrics td { white-space: normal; }
  .metrics td:last-child { min-width: 11rem; }
}
@media print {
  @page { margin: 14mm; }
  body { font-size: 10.5pt; }
  main { max-width: none; padding: 0; }
  .panels { grid-template-columns: repeat(auto-fit, minmax(19rem, 1fr)); gap: .6rem 1rem; }
  .plot { height: 270px; }
  .choice, .modebar { display: none !important; }
  .tile, .notes { border: 1px solid var(--line); }
  figure, .tile, .caption, tr { break-inside: avoid; }
  h2, h3, .caption { break-after: avoid; }
}
)css";

const std::string_view report_tools = R"js(
'use strict';
const result = JSON.parse(document.getElementById('result').textContent);

// ---------------------------------------------------------------------------------- numbers

const column = (rows, k) => rows.map(row => row[k]);
const finite = values => values.filter(v => v !== null && Number.isFinite(v));
const mean = v => v.reduce((a, b) => a + b, 0) / v.length;
// Math.min takes some ten thousand arguments, and many members have more values.
const smallest = v => v.reduce((a, b) => Math.min(a, b), Infinity);
const largest = v => v.reduce((a, b) => Math.max(a, b), -Infinity);
const sd = v => {  // of a sample
  const m = mean(v);
  return Math.sqrt(v.reduce((a, b) => a + (b - m) ** 2, 0) / Math.max(1, v.length - 1));
};
const quantile = (values, level) => {  // between order statistics, linearly
  const sorted = finite(values).sort((a, b) => a - b);
  const at = level * (sorted.length - 1), i = Math.floor(at);
  return i + 1 < sorted.length ? sorted[i] + (at - i) * (sorted[i + 1] - sorted[i]) : sorted[i];
};
const kernelDensity = (values, grid, width) => grid.map(x =>
  mean(values.map(v => Math.exp(-0.5 * ((x - v) / width) ** 2) / (width * Math.sqrt(2 * Math.PI)))));
const scottWidth = values => sd(values) * values.length ** -0.2;  // Scott's rule in one dimension
const steps = (from, to, count) =>
  Array.from({length: count}, (_, i) => from + (to - from) * i / (count - 1));
// Where a kernel density is not zero.
const densityGrid = values => {
  const reach = 3 * scottWidth(values);
  return steps(smallest(values) - reach, largest(values) + reach, 300);
};
const range = count => Array.from({length: count}, (_, i) => i);
const unique = values => [...new Set(values)].sort((a, b) => a - b);
// At most `most` indices, evenly, the last among them.
const thinned = (length, most) => {
  const stride = Math.max(1, Math.ceil(length / most)), indices = [];
  for (let i = (length - 1) % stride; i < length; i += stride) indices.push(i);
  return indices;
};

// ------------------------------------------------------------------------------- appearance

const ink = '#22272e', soft = '#66707c', blue = '43,108,176', orange = '#d9622b', green = '#0f8a5f';
const rgba = (rgb, alpha) => `rgba(${rgb},${alpha})`;
let shownExact = 0;  // buttons choose which posterior is seen
const touch = matchMedia('(hover: none)').matches;  // there a finger scrolls the page
const axis = more => ({
  gridcolor: '#eceef1', linecolor: '#b9c0c9', tickcolor: '#b9c0c9', showline: true, ticks: 'outside',
  ticklen: 4, zeroline: false, automargin: true, ...more,
  title: {text: more.title, standoff: 8, font: {size: 13, color: soft}},
});
const layout = (x, y, more = {}) => ({
  xaxis: axis(x), yaxis: axis(y), margin: {l: 44, r: 10, t: 8, b: 40},
  font: {family: 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif', size: 12, color: ink},
  legend: {orientation: 'h', x: 0, y: 1.02, yanchor: 'bottom', font: {size: 11.5}, itemwidth: 30, traceorder: 'normal'},
  hoverlabel: {font: {size: 12}}, dragmode: touch ? false : 'zoom',
  paper_bgcolor: '#fff', plot_bgcolor: '#fff', ...more,
});
const line = (x, y, name, style, more = {}) =>
  ({type: 'scatter', mode: 'lines', x, y, name, line: style, hovertemplate: '%{y:.4g}', ...more});
const truthLine = (x, y) => line(x, y, 'truth', {color: ink, width: 1.6});
const dataPoints = (x, y) => ({
  type: 'scatter', mode: 'markers', x, y, name: 'data', hovertemplate: '%{y:.4g}',
  marker: {color: '#fff', size: 7, line: {color: orange, width: 2}},
  error_y: {type: 'constant', value: result.data.noise_sd, color: orange, thickness: 1, width: 0,
            visible: result.data.noise_sd > 0},
});
// Many curves as one: a gap lies between them.
const curves = (x, all, name, color) => {
  const xs = [], ys = [], labels = [];
  for (const {label, y} of all) {
    xs.push(...x, null); ys.push(...y, null); labels.push(...x.map(() => label), null);
  }
  return line(xs, ys, name, {color, width: 0.9},
              {customdata: labels, hovertemplate: 'member %{customdata}: %{y:.4g}'});
};
// The area between two curves; a click on the group's entry in the legend hides it too.
const filled = (x, low, high, group, color) => [low, high].map((y, i) => line(
  x, y, group, {width: 0}, {legendgroup: group, showlegend: false, hoverinfo: 'skip', hovertemplate: null,
                            ...(i && {fill: 'tonexty', fillcolor: color})}));

// Room for data, truth and bands; outliers among the members may leave it.
const viewOf = (...lists) => {
  const all = finite(lists.flat()), low = smallest(all), high = largest(all);
  const pad = 0.06 * (high - low || 1);
  return [low - pad, high + pad];
};
)js";

const std::string_view report_drawing = R"js(
// ------------------------------------------------------------------------------------- page

const plots = [...document.querySelectorAll('[data-figure]')];
for (const place of plots) {
  try {
    const [traces, look] = draw[place.dataset.figure](place.dataset);
    if (look.height) place.style.height = look.height + 'px';
    Plotly.newPlot(place, traces, look, {responsive: true, displaylogo: false, ...(touch && {displayModeBar: false}),
      modeBarButtonsToRemove: ['select2d', 'lasso2d', 'autoScale2d']});
  } catch (error) {  // one figure less, not a page less
    place.textContent = 'This figure could not be drawn: ' + error.message;
  }
}

for (const button of document.querySelectorAll('[data-exact]')) {
  button.addEventListener('click', () => {
    shownExact = Number(button.dataset.exact);
    for (const other of document.querySelectorAll('[data-exact]')) {
      other.setAttribute('aria-pressed', String(other.dataset.exact === button.dataset.exact));
    }
    for (const place of plots) {
      const ours = range((place.data || []).length).filter(i => place.data[i].meta && 'exact' in place.data[i].meta);
      if (ours.length) Plotly.restyle(place, {visible: ours.map(i => place.data[i].meta.exact === shownExact)}, ours);
    }
  });
}

// Paper is narrower than most screens; browsers lay the page out for it too late to measure.
addEventListener('beforeprint', () => plots.forEach(place => {
  const alone = place.closest('.panels').children.length === 1;
  if (place.data) Plotly.relayout(place, {width: alone ? 680 : 330, height: parseInt(place.style.height) || 270});
}));
addEventListener('afterprint', () => plots.forEach(place => {
  if (place.data) Plotly.relayout(place, {width: null, height: parseInt(place.style.height) || null, autosize: true});
}));
)js";

}  // namespace sturnus::app
