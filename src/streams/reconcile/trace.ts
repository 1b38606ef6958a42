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
import * as Cause from "./cause.ts"

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
  begin(key: string, causes: Cause.Causes | undefined): Tracer.Span {
    const now = this.clock.currentTimeNanosUnsafe()
    const spans = Cause.list(causes).flatMap(({ span }) => span ?? [])
    const links = spans.map((span) => ({ span, attributes: {} }))
    const first = spans[0]
    let parent: Tracer.Span | undefined
    if (first !== undefined) {
      parent = this.span("queue wait", "consumer", { parent: first, links, startTime: first.status.startTime })
      describe(parent, key)
      parent.end(now, Exit.void)
    }
    const span = this.span(`reconcile ${this.controller}`, "internal", { parent, links: [...links], startTime: now })
    describe(span, key)
    span.attribute("triggers", links.length + (causes?.more ?? 0))
    if (causes !== undefined && causes.more > 0) span.attribute("triggers.unlinked", causes.more)
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
