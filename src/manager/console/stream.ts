/**
 * The stream of the console. It is pulled by its reader: each pull sends the present state where it differs from what was sent before, and otherwise
 * waits. So a page that does not read costs nothing, and one that reads slowly gets fewer messages, not older ones.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Key from "../../kube/Key.ts"
import type { KubeObject } from "../../kube/Meta.ts"
import type * as Resource from "../../kube/Resource.ts"
import { Node, Pod } from "../../kube/resources.ts"
import type { Cache } from "../../layers/Cache.ts"
import * as Monotonic from "../../streams/monotonic.ts"
import * as Changes from "./changes.ts"
import { nodeOf, podOf } from "./cluster.ts"
import * as Figures from "./figures.ts"
import type * as Protocol from "./protocol.ts"

export interface Options {
  readonly program: Protocol.Program
  readonly figures: Effect.Effect<Figures.Sample>
  /** A cache with all nodes and pods. Undefined: they are not shown. */
  readonly cluster: Cache["Service"] | undefined
  /** Ends the stream when it completes. */
  readonly closing: Effect.Effect<void>
}

/**
 * Milliseconds: between two looks, between figures, from the last line to an empty one that shows that the connection is alive, and until the stream
 * ends, so that the page asks again and its permission is checked again.
 */
export const pace = { look: 200, figures: 1000, silence: 10_000, life: 30 * 60_000 }

/** The most nodes and the most pods of a line, so that a page reads a line in a few milliseconds. */
const longest = 1000

const encoder = new TextEncoder()

const line = (message: Protocol.Message): string => `${JSON.stringify(message)}\n`

export const make = ({ closing, cluster, figures, program }: Options): Stream.Stream<Uint8Array> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const now = Monotonic.millis(yield* Clock.Clock)
      const changes = cluster === undefined ? undefined : yield* follow(cluster)
      const sent = new Map<string, string>()
      const began = now()
      let greeting = line({ type: "hello", program })
      let [figuresAt, clusterAt, saidAt] = [-Infinity, -Infinity, began]

      const lines = Effect.gen(function* () {
        const at = now()
        let text = greeting
        greeting = ""
        if (at - figuresAt >= pace.figures) {
          figuresAt = at
          text += news(sent, yield* figures)
        }
        if (changes !== undefined && changes.hasChanged() && (changes.isPartly() || at - clusterAt >= pace.look)) {
          clusterAt = at
          text += line(changes.take(yield* Clock.currentTimeMillis))
        }
        if (text === "" && at - saidAt >= pace.silence) text = "\n"
        if (text !== "") saidAt = at
        return text
      })

      const next: Effect.Effect<readonly [Uint8Array], Cause.Done> = Effect.suspend(() =>
        now() - began >= pace.life ? Cause.done() : Effect.flatMap(lines, (text) => (text === "" ? later : said(text)))
      )
      // Not `Stream.interruptWhen`, which pulls before the reader does.
      const later = Effect.flatMap(
        Effect.raceFirst(Effect.as(Effect.sleep(pace.look), false), Effect.as(closing, true)),
        (isClosing) => (isClosing ? Cause.done() : next)
      )
      return Stream.fromPull(Effect.succeed(next))
    })
  )

const said = (text: string): Effect.Effect<readonly [Uint8Array]> => Effect.sync(() => [encoder.encode(text)])

/** The messages whose content is not the one that was sent last. */
const news = (sent: Map<string, string>, { at, bodies }: Figures.Sample): string =>
  Figures.types
    .filter((type) => sent.get(type) !== bodies[type])
    .map((type) => {
      sent.set(type, bodies[type])
      return `{"type":${JSON.stringify(type)},"at":${at},${bodies[type].slice(1)}\n`
    })
    .join("")

/** The changes of nodes and pods from now on, for as long as the stream runs. */
const follow = Effect.fnUntraced(function* (cache: Cache["Service"]) {
  const nodes = yield* followKind(cache, Node, nodeOf)
  const pods = yield* followKind(cache, Pod, podOf)
  let partly = false
  return {
    hasChanged: () => nodes.hasChanged || pods.hasChanged,
    /** The last message was not the end of the changes. */
    isPartly: () => partly,
    take: (at: number): Protocol.Message => {
      const message = { type: "cluster", at, nodes: nodes.take(longest), pods: pods.take(longest) } as const
      partly = nodes.hasChanged || pods.hasChanged
      return message
    }
  }
})

const followKind = Effect.fnUntraced(function* <A extends KubeObject, B>(
  cache: Cache["Service"],
  resource: Resource.Resource<A>,
  show: (object: A) => B
) {
  const informer = yield* cache.subscribe(resource)
  const pending = new Changes.Pending(informer.store, show)
  yield* informer.onDeltas((deltas) => {
    for (const { object } of deltas) pending.mark(Key.of(object))
  })
  return pending
})
