/** Owners and dependants of an object as a tree: owners above it up to the first, dependants below it with theirs. */
import type { ComponentChildren } from "preact"
import type { ObjectView, Related, Relations as Connected } from "../../protocol.ts"
import { hrefOfObject } from "../model/route.ts"
import { moveFocus } from "../parts/keys.ts"

const Label = ({ related }: { readonly related: Related }) => (
  <>
    <span class="kind">{related.kind}</span> <span class="name">{related.key}</span>{" "}
    <span class="muted">{related.state}</span>
  </>
)

const Item = (props: { readonly related: Related; readonly level: number; readonly children?: ComponentChildren }) => {
  const { children, level, related } = props
  return (
    <li role="treeitem" aria-level={level} aria-expanded={children === undefined ? undefined : true} tabIndex={-1}>
      {related.resource === "" ? (
        <Label related={related} />
      ) : (
        <a tabIndex={-1} href={hrefOfObject(related.resource, related.key)}>
          <Label related={related} />
        </a>
      )}
      {children}
    </li>
  )
}

const More = ({ level, more, what }: { readonly level: number; readonly more: number; readonly what: string }) =>
  more === 0 ? null : (
    <li role="treeitem" aria-level={level} tabIndex={-1} class="muted">
      and {more} more {what}
    </li>
  )

const Below = ({ below: { more, objects }, level }: { readonly below: Connected; readonly level: number }) => (
  <ul role="group">
    {objects.map((related) => (
      <Item key={`${related.resource} ${related.key}`} related={related} level={level}>
        {isEmpty(related.next) ? undefined : <Below below={related.next} level={level + 1} />}
      </Item>
    ))}
    <More level={level} more={more} what={more === 1 ? "dependant" : "dependants"} />
  </ul>
)

const isEmpty = ({ more, objects }: Connected): boolean => objects.length === 0 && more === 0

/** The way up through the last owner of each object; the other owners stand beside that one. */
const above = (object: ObjectView, self: (level: number) => ComponentChildren) => {
  let inner = self
  let owners = object.owners
  for (let last = owners.objects.at(-1); last !== undefined; last = owners.objects.at(-1)) {
    const { more, objects } = owners
    const [owner, below] = [last, inner]
    inner = (level) => (
      <>
        {objects.slice(0, -1).map((related) => (
          <Item key={`${related.resource} ${related.key}`} related={related} level={level} />
        ))}
        <More level={level} more={more} what={more === 1 ? "owner" : "owners"} />
        <Item related={owner} level={level}>
          <ul role="group">{below(level + 1)}</ul>
        </Item>
      </>
    )
    owners = owner.next
  }
  return inner(1)
}

export const Relations = ({ object }: { readonly object: ObjectView }) => {
  const { dependants, owners } = object
  if (isEmpty(owners) && isEmpty(dependants)) {
    return <p class="empty">The object has no owner, and no object in the cache names it as its owner.</p>
  }
  // One item is in the tab order; arrow keys reach the others, and Enter opens the object of one.
  const onKey = (event: KeyboardEvent) => {
    moveFocus(event, "[role=treeitem]")
    if (event.key === "Enter" && event.target instanceof HTMLElement)
      event.target.querySelector<HTMLAnchorElement>(":scope > a")?.click()
  }
  const self = (level: number) => (
    <li
      role="treeitem"
      aria-level={level}
      aria-current="true"
      aria-expanded={isEmpty(dependants) ? undefined : true}
      tabIndex={0}
      class="self"
    >
      <span class="kind">{object.kind}</span> <span class="name">{object.key}</span>
      {!isEmpty(dependants) && <Below below={dependants} level={level + 1} />}
    </li>
  )
  return (
    <ul class="tree" role="tree" aria-label="Owners and dependants" onKeyDown={onKey}>
      {above(object, self)}
    </ul>
  )
}
