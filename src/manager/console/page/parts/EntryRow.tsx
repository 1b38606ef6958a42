/** An entry of a timeline: when, how it ended as a shape, and what happened. */
import type { ComponentChildren } from "preact"
import { Shape, type Tone } from "./Status.tsx"

export interface EntryRowProps {
  readonly id?: string | undefined
  /** Further classes of the element. */
  readonly kind: string
  readonly tone: Tone
  /** The element `time`. */
  readonly time: ComponentChildren
  readonly children: ComponentChildren
}

/** With an `id` it can receive the focus. */
export const EntryRow = ({ children, id, kind, time, tone }: EntryRowProps) => (
  <div class={`entry ${tone} ${kind}`} id={id} tabIndex={id === undefined ? undefined : -1}>
    {time}
    <Shape tone={tone} />
    <div class="body">{children}</div>
  </div>
)
