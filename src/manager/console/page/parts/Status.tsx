/** A state as a shape, a colour and a word. */
import type { ComponentChildren } from "preact"

export type Tone = "ok" | "busy" | "warn" | "bad" | "off"

/** In a square of 10. */
const shapes: Readonly<Record<Tone, string>> = {
  ok: "M5 1a4 4 0 1 1 0 8a4 4 0 1 1 0-8z",
  busy: "M5 1a4 4 0 1 1 0 8a4 4 0 1 1 0-8zM5 3a2 2 0 1 0 0 4a2 2 0 1 0 0-4z",
  warn: "M5 .5L9.5 5L5 9.5L.5 5z",
  bad: "M5 .8L9.6 9.2H.4z",
  off: "M1 4h8v2h-8z"
}

export const Shape = ({ tone }: { readonly tone: Tone }) => (
  <svg class={`shape ${tone}`} viewBox="0 0 10 10" aria-hidden="true">
    <path d={shapes[tone]} fill-rule="evenodd" />
  </svg>
)

export const Status = ({ children, tone }: { readonly tone: Tone; readonly children: ComponentChildren }) => (
  <span class={`status ${tone}`}>
    <Shape tone={tone} />
    <span>{children}</span>
  </span>
)
