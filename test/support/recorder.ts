/** A tracer that keeps every span, in the order of their starts. */
import * as Tracer from "effect/Tracer"

export type Recorded = Tracer.NativeSpan

export const recorder = () => {
  const spans: Array<Recorded> = []
  const tracer = Tracer.make({
    span: (options) => {
      const span = new Tracer.NativeSpan(options)
      spans.push(span)
      return span
    }
  })
  return { spans, tracer }
}
