import { allAreas, composeTrendPoint, documentName, trendDays } from '@tally/figures'
import { compose } from '../http/answer.ts'
import { documentOf, hasArea } from '../views/question.ts'
import { answerEvent, type Handler } from './handler.ts'

/** Composed of the KPI documents of the event's last days (docs/records.md, Figures). */
export const getSalesTrend: Handler<'getSalesTrend'> = {
  early: true,
  read: (readers, asked) =>
    answerEvent(readers, asked, event => {
      const { days, areaId = allAreas } = asked.query
      if (!hasArea(event, asked.query.areaId)) return undefined
      const dates = trendDays(event.days, days)
      return {
        key: `trend:${days}:${areaId}`,
        needs: dates.flatMap(({ days }) => days.map(({ dayId }) => documentName('kpis', dayId, areaId))),
        compose: documents =>
          compose(
            dates.map(({ date, days }) =>
              composeTrendPoint(
                date,
                days.map(({ dayId }) => documentOf(documents, 'kpis', dayId, areaId)),
              ),
            ),
          ),
      }
    }),
}
