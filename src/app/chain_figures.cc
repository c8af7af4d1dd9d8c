#include "src/app/chain_figures.h"

namespace sturnus::app {

const std::string_view chain_figures = R"js(
// ----------------------------------------------------------------------------------- chains

const chains = result.chains || {names: [], draws: [], divergent: [], stride: 1};
const palette = ['43,108,176', '217,98,43', '15,138,95', '141,108,171', '193,154,26', '70,160,180'];
const colorOf = (chain, alpha) => rgba(palette[chain % palette.length], alpha);
const isDivergent = (chain, draw) => chains.divergent[chain] !== undefined && chains.divergent[chain][draw] !== 0;

// Where each draw of each chain stands among all, from 0 to 1; equal draws share their place.
const ranksOf = byChain => {
  const sorted = byChain.flat().sort((a, b) => a - b), places = new Map();
  sorted.forEach((value, i) => {
    const [sum, count] = places.get(value) || [0, 0];
    places.set(value, [sum + i + 0.5, count + 1]);
  });
  return byChain.map(values => values.map(v => places.get(v)[0] / places.get(v)[1] / sorted.length));
};

// How many numbers of [0, 1] lie in each of `bins` equal parts.
const histogram = (values, bins) => {
  const counts = Array(bins).fill(0);
  for (const v of values) counts[Math.min(bins - 1, Math.floor(v * bins))]++;
  return counts;
};

// ----------------------------------------------------------------------------------- figures

const draw = {
  predicted: about => {
    const k = Number(about.output), f = result.predictions.bands[k], y = result.predictions.measured[k];
    const places = result.data.x.map((at, i) => at.length === 1 ? at[0] : i + 1);
    const measured = dataPoints(places, column(result.data.y, k));
    const look = layout({title: about.input}, {title: about.name}, {hovermode: 'x'});
    if (result.predictions.continuous === false) {
      const bars = (q, name, color, style) => ({
        type: 'scatter', mode: 'markers', name, x: q.x, y: q.q50, marker: {color, size: 7},
        error_y: {type: 'data', color, symmetric: false, array: q.q95.map((v, i) => v - q.q50[i]),
                  arrayminus: q.q05.map((v, i) => q.q50[i] - v), ...style},
      });
      return [[bars(y, 'new measurements', rgba(blue, .35), {thickness: 1, width: 8}),
               bars(f, 'posterior', rgba(blue, 1), {thickness: 3, width: 0}), measured], look];
    }
    const edge = {color: rgba(blue, .6), width: 1, dash: 'dot'}, more = {legendgroup: 'new'};
    const traces = [
      ...filled(f.x, f.q05, f.q95, 'posterior', rgba(blue, .16)),
      ...filled(f.x, f.q25, f.q75, 'posterior', rgba(blue, .30)),
      line(f.x, f.q50, 'posterior', {color: rgba(blue, 1), width: 2}, {legendgroup: 'posterior'}),
      line(y.x, y.q05, 'new measurements', edge, more),
      line(y.x, y.q95, 'new measurements', edge, {...more, showlegend: false}),
    ];
    if (result.predictions.truth.length) traces.push(truthLine(f.x, column(result.predictions.truth, k)));
    traces.push(measured);
    return [traces, look];
  },

  density: about => {
    const values = chains.draws[Number(about.parameter)].flat(), grid = densityGrid(values);
    const few = thinned(values.length, 2000).map(i => values[i]);
    const traces = [line(grid, kernelDensity(few, grid, scottWidth(values)), about.name, {color: rgba(blue, 1), width: 1.8},
                         {fill: 'tozeroy', fillcolor: rgba(blue, .14)})];
    return [traces, layout({title: about.name}, {title: 'density', rangemode: 'tozero'}, {hovermode: 'x'})];
  },

  elbo: () => {
    const {iteration, elbo} = result.history;
    // The first stretches are far below all others.
    const late = elbo.slice(Math.floor(elbo.length / 10));
    return [[line(iteration, elbo, 'ELBO', {color: rgba(blue, 1), width: 1.6})],
            layout({title: 'iteration'}, {title: 'ELBO', range: viewOf(late)}, {hovermode: 'x'})];
  },

  trace: about => {
    const byChain = chains.draws[Number(about.parameter)];
    const [low, high] = viewOf(byChain.flat());
    const traces = byChain.map((values, c) => line(
      values.map((_, i) => i * chains.stride + 1), values, `chain ${c + 1}`, {color: colorOf(c, .75), width: 0.8}));
    const x = byChain.flatMap((values, c) =>
      range(values.length).filter(i => isDivergent(c, i)).map(i => i * chains.stride + 1));
    if (x.length) {
      traces.push({type: 'scatter', mode: 'markers', x, y: x.map(() => low), name: 'divergent', hovertemplate: 'draw %{x}',
                   marker: {symbol: 'triangle-up', size: 8, color: ink}});
    }
    return [traces, layout({title: 'draw'}, {title: about.name, range: [low, high]}, {hovermode: 'closest'})];
  },

  ranks: about => {
    const ranks = ranksOf(chains.draws[Number(about.parameter)]), length = ranks[0].length;
    const bins = Math.max(2, Math.min(20, Math.floor(length / 10)));
    // If chains agree, a count is about normal around this, were its draws independent.
    const expected = length / bins, reach = 2 * Math.sqrt(expected * (1 - 1 / bins) * (1 - 1 / ranks.length));
    const edges = range(bins + 1).map(i => i / bins);
    const traces = filled([0, 1], [expected - reach, expected - reach], [expected + reach, expected + reach],
                          'expected', 'rgba(34,39,46,.10)');
    ranks.forEach((values, c) => {
      const counts = histogram(values, bins);
      traces.push(line(edges, [...counts, counts[bins - 1]], `chain ${c + 1}`,
                       {color: colorOf(c, 1), width: 1.6, shape: 'hv'}));
    });
    const y = {title: 'draws', rangemode: 'tozero'};
    return [traces, layout({title: `rank of ${about.name} among all draws`, tickformat: '.0%', range: [0, 1]}, y,
                           {hovermode: 'closest'})];
  },

  pairs: about => {
    const symbols = JSON.parse(about.symbols), count = symbols.length, length = chains.draws[0][0].length;
    const shown = range(chains.draws[0].length).flatMap(c =>
      thinned(length, 1500 / chains.draws[0].length).map(i => [c, i]));
    const wild = range(chains.draws[0].length).flatMap(c => range(length).filter(i => isDivergent(c, i)).map(i => [c, i]));
    const gap = 0.018, side = (1 - gap * (count - 1)) / count;
    const domain = k => [k * (side + gap), k * (side + gap) + side];
    const traces = [], axes = {};
    const views = range(count).map(k => viewOf(chains.draws[k].flat()));
    for (const row of range(count)) {
      for (const col of range(row + 1)) {
        const cell = row * count + col + 1, suffix = cell === 1 ? '' : String(cell);
        const place = {xaxis: 'x' + suffix, yaxis: 'y' + suffix, showlegend: false};
        const bottom = row === count - 1, left = col === 0 && row > 0;
        const small = {size: 10};
        axes['xaxis' + suffix] = {...axis({title: bottom ? symbols[col] : ''}), anchor: 'y' + suffix, domain: domain(col),
          range: views[col], showticklabels: bottom, tickfont: small, nticks: 4};
        axes['yaxis' + suffix] = {...axis({title: left ? symbols[row] : ''}), anchor: 'x' + suffix,
          domain: domain(count - 1 - row), showticklabels: left, tickfont: small, nticks: 4,
          ...(row === col ? {rangemode: 'tozero', showgrid: false, ticks: ''} : {range: views[row]})};
        if (row === col) {
          const values = chains.draws[row].flat(), grid = densityGrid(values);
          const width = scottWidth(values);
          if (!(width > 0)) continue;
          const few = thinned(values.length, 2000).map(i => values[i]);
          traces.push(line(grid, kernelDensity(few, grid, width), symbols[row], {color: rgba(blue, 1), width: 1.6},
                           {...place, fill: 'tozeroy', fillcolor: rgba(blue, .14), hoverinfo: 'skip', hovertemplate: null}));
          continue;
        }
        const points = (list, style) => ({
          type: 'scatter', mode: 'markers', ...place, marker: style, hovertemplate: '%{x:.4g}, %{y:.4g}<extra></extra>',
          x: list.map(([c, i]) => chains.draws[col][c][i]), y: list.map(([c, i]) => chains.draws[row][c][i]),
        });
        traces.push(points(shown, {color: rgba(blue, .28), size: 3}));
        if (wild.length) traces.push(points(wild, {color: orange, size: 5, line: {color: '#fff', width: .5}}));
      }
    }
    const look = layout({title: ''}, {title: ''}, {...axes, height: Math.min(940, 170 * count + 60), hovermode: 'closest'});
    return [traces, {...look, margin: {l: 54, r: 10, t: 8, b: 46}}];
  },
};
)js";

}  // namespace sturnus::app
