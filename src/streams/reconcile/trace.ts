/**
 * The spans of one controller's loop: watch event → wait in the queue → reconcile; the API calls of a reconcile are child spans. A run belongs
 * to the trace of the first event that added its key and is linked to all others, and to the previous run if that asked for another one.
 * There is a `Trace` only if a tracer is provided: otherwise nothing here is called and nothing is kept.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as References from "effect/References"
import * as Tracer from "effect/Tracer"
import * as Key from "../../kube/Key.ts"
import type { KubeObject } from "../../kube/Meta.ts"
import type { Delta } from "../store/Store.ts"

/** The most links of one run; of further ones only the number is kept. */
export const mostLinks = 16

/** The spans that have added a key since its last run. The queue keeps them with the key. */
export interface Triggers {
  /** When the first of them added it, in nanoseconds since 1970. */
  readonly since: bigint
  /** The first {@link mostLinks}, in order. */
  readonly spans: Array<Tracer.Span>
  /** The number of further ones. */
  more: number
}

/** Adds a span. */
export const merge = (triggers: Triggers | undefined, span: Tracer.Span): Triggers => {
  if (triggers === undefined) return { since: span.status.startTime, spans: [span], more: 0 }
  if (triggers.spans.length < mostLinks) triggers.spans.push(span)
  else triggers.more++
  return triggers
}

export class Trace {
  private readonly controller: string
  private readonly tracer: Tracer.Tracer
  private readonly clock: Clock.Clock

  constructor(controller: string, tracer: Tracer.Tracer, clock: Clock.Clock) {
    this.controller = controller
    this.tracer = tracer
    this.clock = clock
  }

  /** Begins the span of an event about an object of that kind; the runs of keys that it adds are linked to it. */
  event(kind: string, { _tag, object }: Delta<KubeObject>): Tracer.Span {
    const now = this.clock.currentTimeNanosUnsafe()
    const span = this.span("watch event", "producer", { startTime: now })
    span.attribute("kind", kind)
    span.attribute("event", _tag)
    describe(span, Key.of(object))
    span.attribute("resourceVersion", object.metadata.resourceVersion ?? "")
    span.end(now, Exit.void)
    return span
  }

  /** Begins the span of a run; the run makes child spans. */
  begin(key: string, triggers: Triggers | undefined): Tracer.Span {
    const now = this.clock.currentTimeNanosUnsafe()
    const links = (triggers?.spans ?? []).map((span) => ({ span, attributes: {} }))
    const first = triggers?.spans[0]
    let parent: Tracer.Span | undefined
    if (triggers !== undefined && first !== undefined) {
      parent = this.span("queue wait", "consumer", { parent: first, links, startTime: triggers.since })
      describe(parent, key)
      parent.end(now, Exit.void)
    }
    const span = this.span(`reconcile ${this.controller}`, "internal", { parent, links: [...links], startTime: now })
    describe(span, key)
    span.attribute("triggers", links.length + (triggers?.more ?? 0))
    if (triggers !== undefined && triggers.more > 0) span.attribute("triggers.unlinked", triggers.more)
    return span
  }

  /** Ends the span of a run. `isAgain`: the run has asked for another run of its key. */
  end(span: Tracer.Span, exit: Exit.Exit<unknown, unknown>, isAgain: boolean): void {
    span.attribute("again", isAgain)
    span.end(this.clock.currentTimeNanosUnsafe(), exit)
  }

  private span(name: string, kind: Tracer.SpanKind, options: SpanOptions): Tracer.Span {
    const { links = [], parent, startTime } = options
    const span = this.tracer.span({
      name,
      kind,
      links,
      startTime,
      parent: Option.fromUndefinedOr(parent),
      root: parent === undefined,
      annotations: Context.empty(),
      sampled: true
    })
    span.attribute("controller", this.controller)
    return span
  }
}

interface SpanOptions {
  readonly startTime: bigint
  readonly parent?: Tracer.Span | undefined
  readonly links?: Array<Tracer.SpanLink> | undefined
}

const describe = (span: Tracer.Span, key: string): void => {
  const { name, namespace } = Key.parse(key)
  if (namespace !== undefined) span.attribute("namespace", namespace)
  span.attribute("name", name)
}

/** Whether a tracer is provided: Effect's default tracer does not export spans. */
export const isOn: Effect.Effect<boolean> = Effect.contextWith((context: Context.Context<never>) =>
  Effect.succeed(
    Context.get(context, Tracer.Tracer) !== Tracer.nativeTracer && Context.get(context, References.TracerEnabled)
  )
)

/** The trace of a controller; undefined without a tracer. */
export const of = (controller: string): Effect.Effect<Trace | undefined> =>
  Effect.contextWith((context: Context.Context<never>) =>
    Effect.map(isOn, (on) =>
      on ? new Trace(controller, Context.get(context, Tracer.Tracer), Context.get(context, Clock.Clock)) : undefined
    )
  )
