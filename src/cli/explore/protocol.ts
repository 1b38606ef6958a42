/** The messages between the command `explore` and its threads, which load the files of the user and run the explorations. */
import type { Entry } from "../../testing/explore/record.ts"
import type { Case } from "../../testing/explore/perturbation.ts"
import type { Settings } from "../../testing/explore/scenarios.ts"
import type { Progress, Report } from "../../testing/explore/search.ts"

/** `workerData` of a thread; `role` distinguishes it, because the program and its threads have the same entry file. */
export interface ThreadData {
  readonly role: typeof role
  /** The address of the module that makes Node load TypeScript; undefined where Node does, or the project has none. */
  readonly loader: string | undefined
}

export const role = "explore"

/** What a thread is asked for; it answers each question before the next one. `file`: an address `file:`. */
export type Question =
  | { readonly _tag: "Load"; readonly file: string }
  | {
      readonly _tag: "Search"
      readonly file: string
      readonly name: string
      readonly settings: Omit<Settings, "onProgress" | "budget"> & { readonly budget: number | undefined }
    }
  | {
      readonly _tag: "Record"
      readonly file: string
      readonly name: string
      readonly case: Case
      readonly seed: number
      /** The name of a generated scenario. */
      readonly scenario: string | undefined
    }

/** An exploration that a file exports, and the version of this package that it was declared with. */
export interface Declared {
  readonly name: string
  readonly version: string
}

/** What each question is answered with. */
export interface Answers {
  readonly Load: ReadonlyArray<Declared>
  readonly Search: Report
  /** Undefined: the exploration generates no such scenario. */
  readonly Record: ReadonlyArray<Entry> | undefined
}

export type Answer = Answers[keyof Answers]

/** What a thread sends: progress before the answer of a search, and answers. */
export type FromThread =
  | { readonly _tag: "Progress"; readonly progress: Progress }
  | { readonly _tag: "Answer"; readonly answer: Answer }
  /** The file does not load, or the exploration throws. */
  | { readonly _tag: "Failed"; readonly message: string }
