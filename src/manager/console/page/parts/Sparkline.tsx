/** A line of five minutes of samples. Its figures are in the text beside it, so that it is hidden from screen readers. */
import { window, type Sample } from "../model/Samples.ts"

const width = 120
const height = 24
/** Samples of one bucket become one point, their maximum: a line has at most this many points. */
const buckets = 60

export interface SparklineProps {
  readonly samples: ReadonlyArray<Sample>
  readonly now: number
  readonly tone?: "plain" | "bad" | undefined
}

const pointsOf = (samples: ReadonlyArray<Sample>, now: number): ReadonlyArray<Sample> => {
  const points: Array<Sample> = []
  const size = window / buckets
  const from = Math.floor((now - window) / size)
  for (const { at, value } of samples) {
    const bucket = Math.floor(at / size)
    if (bucket < from) continue
    const last = points.at(-1)
    if (last !== undefined && last.at === bucket)
      points[points.length - 1] = { at: bucket, value: Math.max(last.value, value) }
    else points.push({ at: bucket, value })
  }
  return points.map(({ at, value }) => ({ at: (at - from) / buckets, value }))
}

export const Sparkline = ({ now, samples, tone = "plain" }: SparklineProps) => {
  const points = pointsOf(samples, now)
  const most = points.reduce((most, { value }) => Math.max(most, value), 0)
  const line = points
    .map(
      ({ at, value }) => `${(at * width).toFixed(1)},${(height - 2 - (value / (most || 1)) * (height - 4)).toFixed(1)}`
    )
    .join(" ")
  const first = points[0]
  const last = points.at(-1)
  return (
    <svg
      class={`sparkline ${most === 0 ? "zero" : tone}`}
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      {first !== undefined && last !== undefined && points.length > 1 && (
        <>
          <polygon
            points={`${(first.at * width).toFixed(1)},${height} ${line} ${(last.at * width).toFixed(1)},${height}`}
          />
          <polyline points={line} />
        </>
      )}
    </svg>
  )
}
