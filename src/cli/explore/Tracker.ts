/** How far all explorations are, as the sum of what their shares report. */
import type { State } from "../../manager/progress/render.ts"
import type { Progress } from "../../testing/explore/search.ts"

export class Tracker {
  /** By the name of the exploration and the index of the share. */
  readonly #latest = new Map<string, Map<number, Progress>>()
  readonly #explorations: number

  /** `explorations`: how many there are. */
  constructor(explorations: number) {
    this.#explorations = explorations
  }

  note(index: number, progress: Progress): void {
    const known = this.#latest.get(progress.name) ?? new Map<number, Progress>()
    known.set(index, progress)
    this.#latest.set(progress.name, known)
  }

  /** The points of an exploration are known once one of its shares has begun. */
  state(): State {
    let [done, total, runs, failures] = [0, 0, 0, 0]
    for (const known of this.#latest.values()) {
      let [points, most] = [0, 0]
      for (const progress of known.values()) {
        points = progress.singles
        runs += progress.runs
        done += progress.tried
        // Shares may find the same failure.
        most = Math.max(most, progress.failures)
      }
      total += points
      failures += most
    }
    const explorations = `${this.#latest.size} of ${this.#explorations} explorations`
    const detail = `${failures === 0 ? "no" : failures} failures so far, ${runs} runs, ${explorations}`
    return { verb: "Perturbed", done, total, unit: "points", detail }
  }
}
