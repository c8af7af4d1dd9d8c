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

const std::string_view report_figures = R"js(
'use strict';
const result = JSON.parse(document.getElementById('result').textContent);

// ---------------------------------------------------------------------------------- numbers

const column = (rows, k) => rows.map(row => row[k]);
const finite = values => values.filter(v => v !== null && Number.isFinite(v));
const mean = v => v.reduce((a, b) => a + b, 0) / v.length;
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
const steps = (from, to, count) =>
  Array.from({length: count}, (_, i) => from + (to - from) * i / (count - 1));
// At most `most` indices, evenly, the last among them.
const thinned = (length, most) => {
  const stride = Math.max(1, Math.ceil(length / most)), indices = [];
  for (let i = (length - 1) % stride; i < length; i += stride) indices.push(i);
  return indices;
};

// ------------------------------------------------------------------------------- appearance

const ink = '#22272e', soft = '#66707c', blue = '43,108,176', orange = '#d9622b', green = '#0f8a5f';
const rgba = (rgb, alpha) => `rgba(${rgb},${alpha})`;
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

// ------------------------------------------------------------------------------ predictions

const inputs = result.data ? result.data.inputs : 1;
const prediction = result.predictions || {x: [], truth: [], members: [], outputs: 1};
const survivors = result.members ? result.members.surviving : [];
const labelOf = i => survivors[i] ?? i;
const exact = result.exact || [];
let shownExact = 0;

// Values of every member at points (by index) for one output, [member][point].
const memberValues = (points, output) =>
  prediction.members.map(flat => points.map(p => flat[p * prediction.outputs + output]));
const truthAt = (points, output) =>
  points.map(p => prediction.truth[p] ? prediction.truth[p][output] : null);
const range = count => Array.from({length: count}, (_, i) => i);

// Quantiles of the members, under everything else.
const bands = (x, members) => {
  const q = level => x.map((_, p) => quantile(column(members, p), level));
  return [
    ...filled(x, q(.05), q(.95), 'ensemble', rgba(blue, .16)),
    ...filled(x, q(.25), q(.75), 'ensemble', rgba(blue, .30)),
    line(x, q(.5), 'ensemble', {color: rgba(blue, 1), width: 2}, {legendgroup: 'ensemble'}),
  ];
};
// Dashed quantiles of each exact posterior; buttons choose which is seen.
const exactBands = () => exact.flatMap((posterior, i) => !posterior.bands ? [] :
  ['q50', 'q05', 'q25', 'q75', 'q95'].filter(q => posterior.bands[q]).map(q => line(
    posterior.bands.x, posterior.bands[q], 'exact',
    {color: green, width: q === 'q50' ? 1.8 : 1.1, dash: q === 'q25' || q === 'q75' ? 'dot' : 'dash'},
    {meta: {exact: i}, visible: i === shownExact, legendgroup: 'exact', showlegend: q === 'q50',
     hovertemplate: `%{y:.4g} (${+q.slice(1)} %)`})));

// Room for data, truth and bands; outliers among the members may leave it.
const viewOf = (...lists) => {
  const all = finite(lists.flat()), low = Math.min(...all), high = Math.max(...all);
  const pad = 0.06 * (high - low || 1);
  return [low - pad, high + pad];
};

// --------------------------------------------------------------------------------- advection

const unique = values => [...new Set(values)].sort((a, b) => a - b);
const times = () => unique(column(prediction.x, 0));
const places = () => unique(column(prediction.x, 1));

function image(of) {
  const moments = prediction.x.map((_, p) => {
    const values = finite(column(prediction.members, p * prediction.outputs));
    return {mean: mean(values), sd: sd(values)};
  });
  const truth = truthAt(range(prediction.x.length), 0);
  const values = {
    mean: moments.map(m => m.mean), truth, sd: moments.map(m => m.sd),
    error: moments.map((m, p) => truth[p] === null ? null : Math.abs(m.mean - truth[p])),
  };
  const t = times(), x = places();
  const z = x.map(() => t.map(() => null));
  prediction.x.forEach(([ti, xi], p) => { z[x.indexOf(xi)][t.indexOf(ti)] = values[of][p]; });
  // The two fields have one scale, error and spread another.
  const field = of === 'mean' || of === 'truth';
  const shared = finite(field ? [...values.mean, ...truth] : [...values.error, ...values.sd]);
  const traces = [{
    type: 'heatmap', x: t, y: x, z, zmin: field ? Math.min(...shared) : 0, zmax: Math.max(...shared),
    colorscale: field ? 'Viridis' : [[0, '#f5f8fc'], [.5, '#7fa9d4'], [1, '#12365f']],
    colorbar: {thickness: 10, outlinewidth: 0, len: 1},
    hovertemplate: 't %{x:.3g}, x %{y:.3g}: %{z:.4g}<extra></extra>',
  }];
  if (of === 'mean') {
    traces.push({
      type: 'scatter', mode: 'markers', x: column(result.data.x, 0), y: column(result.data.x, 1),
      text: result.data.y.map(y => y[0].toPrecision(4)), name: 'data',
      hovertemplate: 'data %{text}<extra></extra>',
      marker: {symbol: 'x-thin', size: 6, line: {color: '#fff', width: 1.4}},
    });
  }
  const extent = v => [v[0] - (v[1] - v[0]) / 2, v[v.length - 1] + (v[1] - v[0]) / 2];
  return [traces, layout({title: 't', range: extent(t)}, {title: 'x', range: extent(x)}, {showlegend: false})];
}

function cut(at) {
  const time = times().reduce((a, b) => Math.abs(b - at) < Math.abs(a - at) ? b : a);
  const points = range(prediction.x.length).filter(p => prediction.x[p][0] === time)
    .sort((a, b) => prediction.x[a][1] - prediction.x[b][1]);
  const x = points.map(p => prediction.x[p][1]);
  const here = range(result.data.x.length).filter(i => Math.abs(result.data.x[i][0] - at) < 1e-6);
  const traces = [...bands(x, memberValues(points, 0)), truthLine(x, truthAt(points, 0))];
  if (here.length) {
    traces.push(dataPoints(here.map(i => result.data.x[i][1]), here.map(i => result.data.y[i][0])));
  }
  return [traces, layout({title: 'x'}, {title: `u(${Number(time.toPrecision(4))}, x)`}, {hovermode: 'x'})];
}

// ----------------------------------------------------------------------------------- figures

const draw = {
  image: about => image(about.of),
  cut: about => cut(Number(about.at)),

  bands: about => {
    const output = Number(about.output), x = column(prediction.x, 0), points = range(x.length);
    const traces = [
      ...bands(x, memberValues(points, output)),
      ...(output === 0 ? exactBands() : []),
      truthLine(x, truthAt(points, output)),
      dataPoints(column(result.data.x, 0), column(result.data.y, output)),
    ];
    return [traces, layout({title: 't'}, {title: about.name}, {hovermode: 'x'})];
  },

  members: about => {
    const output = Number(about.output), x = column(prediction.x, 0), points = range(x.length);
    const members = memberValues(points, output), truth = truthAt(points, output);
    const measured = column(result.data.y, output);
    const edge = level => x.map((_, p) => quantile(column(members, p), level));
    const traces = [
      curves(x, members.map((y, i) => ({label: labelOf(i), y})), 'members', rgba(blue, .45)),
      truthLine(x, truth),
      dataPoints(column(result.data.x, 0), measured),
    ];
    const view = viewOf(truth, measured, edge(.02), edge(.98));
    return [traces, layout({title: 't'}, {title: about.name, range: view}, {hovermode: 'closest'})];
  },

  density: about => {
    const k = Number(about.parameter), truth = result.lambda.truth ? result.lambda.truth[k] : null;
    const draws = finite(column(result.lambda.draws, k));
    const width = sd(draws) * draws.length ** -0.2;  // Scott's rule in one dimension
    const ends = finite([truth, Math.min(...draws) - 3 * width, Math.max(...draws) + 3 * width]);
    const traces = [], annotations = [];
    let tallest = 0;
    exact.forEach((posterior, i) => {
      const of = posterior.lambda && posterior.lambda[k];
      if (!of || !of.grid) return;
      const top = Math.max(...finite(of.density));
      of.grid.forEach((x, j) => { if (of.density[j] > 1e-3 * top) ends.push(x); });
      tallest = Math.max(tallest, top);
      traces.push(line(of.grid, of.density, 'exact', {color: green, width: 1.8, dash: 'dash'},
                       {meta: {exact: i}, visible: i === shownExact}));
    });
    let low = Math.min(...ends), high = Math.max(...ends);
    let top = tallest;
    if (width > 0) {
      const grid = unique([...steps(low, high, 300),
                           ...steps(Math.min(...draws) - 3 * width, Math.max(...draws) + 3 * width, 300)]);
      const density = kernelDensity(draws, grid, width), peak = Math.max(...density);
      traces.unshift(line(grid, density, 'ensemble', {color: rgba(blue, 1), width: 2},
                          {fill: 'tozeroy', fillcolor: rgba(blue, .14)}));
      // A collapsed ensemble would press everything else flat.
      top = tallest && peak > 6 * tallest ? 2 * tallest : Math.max(peak, tallest);
      if (top < peak) {
        annotations.push({text: `ensemble: peak at ${peak.toPrecision(3)}, beyond the axis`, showarrow: false,
                          xref: 'paper', x: 1, xanchor: 'right', yref: 'paper', y: 1, yanchor: 'top', font: {color: soft}, bgcolor: '#fff'});
      }
    } else {
      annotations.push({text: 'all members agree: no density', showarrow: false, xref: 'paper', x: .5,
                        yref: 'paper', y: .9, font: {color: soft}});
    }
    top = top || 1;
    if (!(high > low)) [low, high] = [low - 1, high + 1];
    traces.push({type: 'scatter', mode: 'markers', x: draws, y: draws.map(() => -0.035 * top), name: 'members',
                 customdata: draws.map((_, i) => labelOf(i)), showlegend: false,
                 hovertemplate: 'member %{customdata}: %{x:.4g}<extra></extra>',
                 marker: {symbol: 'line-ns', size: 9, line: {color: rgba(blue, .8), width: 1.2}}});
    if (truth !== null) traces.push(line([truth, truth], [0, 1.05 * top], 'truth', {color: ink, width: 1.6}));
    const y = {title: `p(${about.name} | data)`, range: [-0.07 * top, 1.08 * top]};
    return [traces, layout({title: about.name, range: [low, high]}, y, {hovermode: 'closest', annotations})];
  },

  trace: about => {
    const k = Number(about.parameter), parameters = result.lambda.names.length, history = result.history;
    const at = thinned(history.iteration.length, 400), x = at.map(i => history.iteration[i]);
    const count = history.lambda[0].length / parameters;
    const members = range(count).map(m => at.map(i => history.lambda[i][m * parameters + k]));
    const lost = m => count === result.members.count && !survivors.includes(m);
    const kept = members.filter((_, m) => !lost(m));
    const moments = x.map((_, i) => {
      const values = finite(column(kept, i));
      return values.length ? {mean: mean(values), sd: sd(values)} : {mean: null, sd: 0};
    });
    const traces = [
      ...filled(x, moments.map(m => m.mean - m.sd), moments.map(m => m.mean + m.sd), 'mean ± sd', rgba(blue, .18)),
      curves(x, members.map((y, m) => ({label: m, y})).filter(c => !lost(c.label)), 'members', rgba(blue, .35)),
      line(x, moments.map(m => m.mean), 'mean ± sd', {color: rgba(blue, 1), width: 2.2}, {legendgroup: 'mean ± sd'}),
    ];
    if (members.some((_, m) => lost(m))) {
      traces.push(curves(x, members.map((y, m) => ({label: m, y})).filter(c => lost(c.label)), 'diverged', '#c0392b'));
    }
    const truth = result.lambda.truth ? result.lambda.truth[k] : null;
    if (truth !== null) traces.push(line([x[0], x[x.length - 1]], [truth, truth], 'truth', {color: ink, width: 1.6}));
    // The first iterations wander far; a double click shows them too.
    const view = viewOf(kept.flatMap(y => y.slice(Math.floor(y.length / 4))), [truth]);
    return [traces, layout({title: 'iteration'}, {title: about.name, range: view}, {hovermode: 'closest'})];
  },

  loss: () => {
    const colors = {data: orange, residual: rgba(blue, 1), prior: '#8d6cab', repulsion: green};
    const {iteration} = result.history, traces = [];
    for (const [name, color] of Object.entries(colors)) {
      const values = result.history[name];
      if (!values || !finite(values).some(v => v !== 0)) continue;
      // Each stretch between two records belongs to the sign of its end.
      for (const negative of [false, true]) {
        const x = [], y = [], signed = [];
        values.forEach((v, i) => {
          const mine = u => Number.isFinite(u) && u !== 0 && (u < 0) === negative;
          if (Number.isFinite(v) && v !== 0 && (mine(v) || mine(values[i + 1]))) {
            x.push(iteration[i]); y.push(Math.abs(v)); signed.push(v);
          } else if (x.length && x[x.length - 1] !== null) {
            x.push(null); y.push(null); signed.push(null);
          }
        });
        if (!values.some(v => v !== null && v !== 0 && (v < 0) === negative)) continue;
        traces.push(line(x, y, negative ? `−${name}` : name, {color, width: 1.7, dash: negative ? 'dot' : 'solid'},
                         {customdata: signed, hovertemplate: '%{customdata:.4g}'}));
      }
    }
    const y = {title: 'size of the term', type: 'log', exponentformat: 'power', dtick: 1};
    return [traces, layout({title: 'iteration'}, y, {hovermode: 'x unified'})];
  },
};

// ------------------------------------------------------------------------------------- page

const plots = [...document.querySelectorAll('[data-figure]')];
for (const place of plots) {
  try {
    const [traces, look] = draw[place.dataset.figure](place.dataset);
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
  if (place.data) Plotly.relayout(place, {width: alone ? 680 : 330, height: 270});
}));
addEventListener('afterprint', () => plots.forEach(place => {
  if (place.data) Plotly.relayout(place, {width: null, height: null, autosize: true});
}));
)js";

}  // namespace sturnus::app
