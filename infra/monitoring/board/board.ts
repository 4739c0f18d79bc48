import {
  type Dashboard,
  DashboardBuilder,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  RowBuilder,
  VariableRefresh,
} from '@grafana/grafana-foundation-sdk/dashboard'
import { DataqueryBuilder } from '@grafana/grafana-foundation-sdk/prometheus'
import { PanelBuilder } from '@grafana/grafana-foundation-sdk/timeseries'
import type { Panel } from './query.ts'
import { rows } from './rows.ts'

const datasource = { type: 'prometheus', uid: '$datasource' }

/** The Grafana board, which asks for its Prometheus and offers the namespaces that it finds there. */
export function board(): Dashboard {
  const builder = new DashboardBuilder('Tally')
    .uid('tally')
    .tags(['tally'])
    .time({ from: 'now-1h', to: 'now' })
    .refresh('30s')
    .timezone('browser')
    .withVariable(new DatasourceVariableBuilder('datasource').label('Prometheus').type('prometheus'))
    .withVariable(
      new QueryVariableBuilder('namespace')
        .label('Namespace')
        .query('label_values(tally_build_info, namespace)')
        .datasource(datasource)
        .refresh(VariableRefresh.OnTimeRangeChanged)
        // Also installations outside Kubernetes, which have no such label.
        .includeAll(true)
        .allValue('.*')
        .current({ text: 'All', value: '$__all' }),
    )
  let id = 0
  for (const { title, panels } of rows) {
    builder.withRow(new RowBuilder(title).id(++id))
    for (const panel of panels) builder.withPanel(timeseries(panel).id(++id))
  }
  return builder.build()
}

function timeseries({ title, description, unit, queries }: Panel): PanelBuilder {
  const builder = new PanelBuilder().title(title).datasource(datasource).unit(unit).min(0).span(8).height(7)
  if (description !== undefined) builder.description(description)
  for (const [index, { expr, legend }] of queries.entries()) {
    const refId = String.fromCharCode('A'.charCodeAt(0) + index)
    builder.withTarget(new DataqueryBuilder().refId(refId).expr(expr).legendFormat(legend).range())
  }
  return builder
}
