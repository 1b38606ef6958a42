/** The page's model and connection in components, and what renders a component again. */
import { createContext } from "preact"
import { useContext, useEffect, useReducer, useState } from "preact/hooks"
import type { Connection } from "../model/Connection.ts"
import type { Model, Topic } from "../model/Model.ts"
import { parseRoute, type Route } from "../model/route.ts"

export interface Page {
  readonly model: Model
  readonly connection: Connection
}

export const PageContext = createContext<Page | undefined>(undefined)

export const usePage = (): Page => {
  const page = useContext(PageContext)
  if (page === undefined) throw new Error("The component is outside of the page.")
  return page
}

/** The model; the component is rendered again in the frame after a change of one of the topics. */
export const useModel = (...topics: ReadonlyArray<Topic>): Model => {
  const { model } = usePage()
  const [, render] = useReducer((count: number) => count + 1, 0)
  useEffect(() => {
    const ends = topics.map((topic) => model.subscribe(topic, () => render(undefined)))
    return () => {
      for (const end of ends) end()
    }
  }, [model, topics.join(" ")])
  return model
}

export const useRoute = (): Route => {
  const [route, setRoute] = useState(() => parseRoute(location.hash))
  useEffect(() => {
    const onChange = () => setRoute(parseRoute(location.hash))
    addEventListener("hashchange", onChange)
    return () => removeEventListener("hashchange", onChange)
  }, [])
  return route
}

/** The items that one frame adds, so that each frame is short. */
const portion = 12

/** How many of so many items are rendered in this frame. */
export const useFrameByFrame = (wanted: number): number => {
  const [count, setCount] = useState(portion)
  useEffect(() => {
    if (count >= wanted) return undefined
    const frame = requestAnimationFrame(() => setCount(count + portion))
    return () => cancelAnimationFrame(frame)
  }, [count, wanted])
  return Math.min(count, wanted)
}

export interface Fetched<A> {
  readonly value: A | undefined
  readonly error: string | undefined
}

/** What the path responds with, asked for again after the interval while the page is visible; nothing for an undefined path. */
export const useFetched = <A>(
  path: string | undefined,
  options: { readonly every?: number; readonly delay?: number }
): Fetched<A> => {
  const { connection, model } = usePage()
  const [fetched, setFetched] = useState<Fetched<A> & { readonly path: string | undefined }>()
  useModel("connection")
  const isReady = connection.state.status === "open"
  useEffect(() => {
    if (path === undefined || !isReady) return undefined
    const ending = new AbortController()
    const ask = async () => {
      try {
        const value = await connection.get<A>(path, ending.signal)
        if (!ending.signal.aborted) setFetched({ path, value, error: undefined })
      } catch (error) {
        if (ending.signal.aborted) return
        const message = error instanceof Error ? error.message : String(error)
        setFetched((last) => ({ path, value: last?.path === path ? last.value : undefined, error: message }))
      }
      if (!ending.signal.aborted && options.every !== undefined) timer = setTimeout(() => void ask(), options.every)
    }
    let timer = setTimeout(() => void ask(), options.delay ?? 0)
    return () => {
      ending.abort()
      clearTimeout(timer)
    }
  }, [path, isReady, connection, model])
  return fetched !== undefined && fetched.path === path ? fetched : { value: undefined, error: undefined }
}
