#include "src/app/run_figures.h"

namespace sturnus::app {

const std::string_view run_figures = R"js(
// ------------------------------------------------------------------------------ predictions

const inputs = result.data ? result.data.inputs : 1;
const prediction = result.predictions || {x: [], truth: [], members: [], outputs: 1};
const survivors = result.members ? result.members.surviving : [];
const labelOf = i => survivors[i] ?? i;
// Exact posteriors, and those that chains drew.
const posteriors = [...(result.exact || []), ...(result.against || [])];
const methodOf = posterior => ({nuts: 'NUTS', tempering: 'tempering'})[posterior.method] ?? 'exact';

// Values of every member at points (by index) for one output, [member][point].
const memberValues = (points, output) =>
  prediction.members.map(flat => points.map(p => flat[p * prediction.outputs + output]));
const truthAt = (points, output) =>
  points.map(p => prediction.truth[p] ? prediction.truth[p][output] : null);

// Quantiles of the members, under everything else.
const bands = (x, members) => {
  const q = level => x.map((_, p) => quantile(column(members, p), level));
  return [
    ...filled(x, q(.05), q(.95), 'ensemble', rgba(blue, .16)),
    ...filled(x, q(.25), q(.75), 'ensemble', rgba(blue, .30)),
    line(x, q(.5), 'ensemble', {color: rgba(blue, 1), width: 2}, {legendgroup: 'ensemble'}),
  ];
};
// Dashed quantiles of each posterior to compare with; buttons choose which is seen.
const posteriorBands = output => posteriors.flatMap((posterior, i) => {
  const bands = posterior.bands && posterior.bands[output];
  return !bands ? [] : ['q50', 'q05', 'q25', 'q75', 'q95'].filter(q => bands[q]).map(q => line(
    bands.x, bands[q], methodOf(posterior),
    {color: green, width: q === 'q50' ? 1.8 : 1.1, dash: q === 'q25' || q === 'q75' ? 'dot' : 'dash'},
    {meta: {exact: i}, visible: i === shownExact, legendgroup: 'exact', showlegend: q === 'q50',
     hovertemplate: `%{y:.4g} (${+q.slice(1)} %)`}));
});

// --------------------------------------------------------------------------------- advection

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
    type: 'heatmap', x: t, y: x, z, zmin: field ? smallest(shared) : 0, zmax: largest(shared),
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
      ...posteriorBands(output),
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
    const width = scottWidth(draws);
    const ends = finite([truth, smallest(draws) - 3 * width, largest(draws) + 3 * width]);
    const traces = [], annotations = [];
    let tallest = 0;
    posteriors.forEach((posterior, i) => {
      const of = posterior.lambda && posterior.lambda[k];
      if (!of || !(of.grid || of.draws)) return;
      const grid = of.grid || densityGrid(of.draws);
      const density = of.density || kernelDensity(of.draws, grid, scottWidth(of.draws));
      const top = largest(finite(density));
      grid.forEach((x, j) => { if (density[j] > 1e-3 * top) ends.push(x); });
      tallest = Math.max(tallest, top);
      traces.push(line(grid, density, methodOf(posterior), {color: green, width: 1.8, dash: 'dash'},
                       {meta: {exact: i}, visible: i === shownExact}));
    });
    let low = smallest(ends), high = largest(ends);
    let top = tallest;
    if (width > 0) {
      const grid = unique([...steps(low, high, 300), ...densityGrid(draws)]);
      const density = kernelDensity(draws, grid, width), peak = largest(density);
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
)js";

}  // namespace sturnus::app
