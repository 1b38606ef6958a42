/** The search field of the header: `/` moves the focus to it, the arrow keys choose among what was found, Enter opens it. */
import { useEffect, useRef, useState } from "preact/hooks"
import type { SearchResult } from "../../protocol.ts"
import { hrefOfObject, hrefOfSearch } from "../model/route.ts"
import { useFetched } from "../parts/hooks.ts"
import { isEditable } from "../parts/keys.ts"

const delay = 150

export const Search = () => {
  const field = useRef<HTMLInputElement>(null)
  const [text, setText] = useState("")
  const [isOpen, setIsOpen] = useState(false)
  const [at, setAt] = useState(-1)
  const query = text.trim()
  const { error, value } = useFetched<SearchResult>(
    isOpen && query !== "" ? `search?q=${encodeURIComponent(query)}` : undefined,
    { delay }
  )
  const found = value?.found.slice(0, 20) ?? []
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || isEditable(event.target)) return
      event.preventDefault()
      field.current?.focus()
      field.current?.select()
    }
    addEventListener("keydown", onKey)
    return () => removeEventListener("keydown", onKey)
  }, [])
  const go = (href: string) => {
    location.hash = href
    setIsOpen(false)
    field.current?.blur()
  }
  const onKey = (event: KeyboardEvent) => {
    if (event.key === "Escape") {
      setIsOpen(false)
      return
    }
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault()
      setIsOpen(true)
      setAt(Math.max(-1, Math.min(found.length - 1, at + (event.key === "ArrowDown" ? 1 : -1))))
      return
    }
    if (event.key !== "Enter" || query === "") return
    const chosen = found[at]
    go(chosen === undefined ? hrefOfSearch(query) : hrefOfObject(chosen.resource, chosen.key))
  }
  const isShown = isOpen && query !== "" && (value !== undefined || error !== undefined)
  return (
    <search class="search">
      <input
        ref={field}
        type="text"
        inputMode="search"
        placeholder="Search kind, namespace, name"
        aria-label="Search objects by kind, namespace or name"
        aria-keyshortcuts="/"
        role="combobox"
        aria-autocomplete="list"
        aria-expanded={isShown}
        aria-controls="found"
        aria-activedescendant={isShown && at >= 0 ? `found-${at}` : undefined}
        autocomplete="off"
        spellcheck={false}
        maxLength={300}
        value={text}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value)
          setAt(-1)
          setIsOpen(true)
        }}
        onKeyDown={onKey}
        onBlur={() => setIsOpen(false)}
      />
      <kbd aria-hidden="true">/</kbd>
      <ul id="found" role="listbox" aria-label="Found objects" hidden={!isShown}>
        {isShown &&
          found.map(({ key, kind, resource }, index) => (
            <li
              key={`${resource} ${key}`}
              id={`found-${index}`}
              role="option"
              aria-selected={index === at}
              // The field keeps the focus, and blur would close the list before the click.
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => go(hrefOfObject(resource, key))}
            >
              <span class="kind">{kind}</span> <span class="name">{key}</span>
            </li>
          ))}
        {isShown && found.length === 0 && (
          <li role="option" aria-selected={false} aria-disabled="true" class="muted">
            {error === undefined ? "No object in the caches matches." : `The search failed: ${error}`}
          </li>
        )}
      </ul>
    </search>
  )
}
