/**
 * The progress of long work as text: one sentence for a log, and one line with a spinner and a bar for a terminal. Both are total functions: numbers
 * may be anything, names were chosen by users of the cluster, and the line is never wider than the terminal. Pure.
 */
import { oneLine } from "../../kube/printable.ts"

/** How far the work is. */
export interface State {
  /** What is done, as a participle: `Synced`. */
  readonly verb: string
  readonly done: number
  readonly total: number
  /** The plural of what is counted: `kinds`. */
  readonly unit: string
  /** What is known of the parts: `pods 34,000 objects`. May be empty. */
  readonly detail: string
}

/** What a terminal can show. */
export interface Style {
  /** Its columns. */
  readonly width: number
  /** Whether it shows characters beyond ASCII. */
  readonly isUnicode: boolean
  readonly isColored: boolean
}

/** The most characters of a detail in a sentence. */
const longestDetail = 240

/** `Synced 12 of 20 kinds: pods 34,000 objects`. */
export const sentence = (state: State): string => {
  const { done, total } = bounded(state)
  const head = `${oneLine(state.verb)} ${count(done)} of ${count(total)} ${oneLine(state.unit)}`
  const detail = oneLine(state.detail.slice(0, longestDetail))
  return detail === "" ? head : `${head}: ${detail}`
}

/** `34,000`. */
export const count = (number: number): string => number.toLocaleString("en-US")

const spinners = { unicode: Array.from("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"), ascii: Array.from("-\\|/") } as const

/** The widest bar, in columns. */
const widestBar = 24

/** The widest line, in columns. */
const widestLine = 200

/** One line without a line feed. `frame` counts the drawn lines, which moves the spinner. It leaves the last column free, where some terminals wrap. */
export const line = (state: State, style: Style, frame: number): string => {
  const width = Math.min(whole(style.width), widestLine) - 1
  const { done, total } = bounded(state)
  const paint = (code: number, text: string): string => (style.isColored ? `\u001b[${code}m${text}\u001b[39m` : text)
  const frames = style.isUnicode ? spinners.unicode : spinners.ascii
  const spinner = frames[whole(frame) % frames.length] ?? ""
  if (width < 1) return ""
  const bar = Math.min(widestBar, Math.floor(width / 4))
  const isBarred = bar >= 8
  const filled = total === 0 ? 0 : Math.floor((done / total) * bar)
  const [full, empty] = style.isUnicode ? ["█", "░"] : ["#", "."]
  const used = isBarred ? bar + 3 : 2
  const text = ascii(sentence(state))
  const rest = width - used
  const shown =
    rest <= 0 ? "" : text.length <= rest ? text : `${text.slice(0, Math.max(0, rest - 3))}...`.slice(0, rest)
  const drawn = isBarred ? ` ${filled === 0 ? "" : paint(32, full.repeat(filled))}${empty.repeat(bar - filled)}` : ""
  return rest <= 0 ? paint(36, spinner) : `${paint(36, spinner)}${drawn} ${shown}`
}

/** Each character takes one column: other scripts have characters of two columns and of none. */
const ascii = (text: string): string => text.replace(/[^\u0020-\u007e]/gu, "?")

const bounded = ({ done, total }: State) => {
  const most = whole(total)
  return { done: Math.min(whole(done), most), total: most }
}

const whole = (number: number): number => {
  const floor = Math.floor(number)
  return Number.isNaN(floor) || floor < 0 ? 0 : Math.min(floor, Number.MAX_SAFE_INTEGER)
}
