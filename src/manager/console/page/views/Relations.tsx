/** Owners and dependants of an object as a tree: owners above it, dependants below it. */
import type { ObjectView, Related } from "../../protocol.ts"
import { hrefOfObject } from "../model/route.ts"
import { plural } from "../parts/format.ts"
import { moveFocus } from "../parts/keys.ts"

/** So many dependants are shown. */
const most = 200

const Label = ({ related }: { readonly related: Related }) => (
  <>
    <span class="kind">{related.kind}</span> <span class="name">{related.key}</span>{" "}
    <span class="muted">{related.state}</span>
  </>
)

const idOf = ({ key, resource }: Related) => `${resource} ${key}`

export const Relations = ({ object }: { readonly object: ObjectView }) => {
  const { dependants, owners } = object
  if (owners.length === 0 && dependants.length === 0) {
    return <p class="empty">The object has no owner, and no object in the cache names it as its owner.</p>
  }
  // One item is in the tab order; arrow keys reach the others, and Enter opens the object of one.
  const link = (related: Related) =>
    related.resource === "" ? (
      <Label related={related} />
    ) : (
      <a tabIndex={-1} href={hrefOfObject(related.resource, related.key)}>
        <Label related={related} />
      </a>
    )
  const onKey = (event: KeyboardEvent) => {
    moveFocus(event, "[role=treeitem]")
    if (event.key === "Enter" && event.target instanceof HTMLElement)
      event.target.querySelector<HTMLAnchorElement>(":scope > a")?.click()
  }
  const shown = dependants.slice(0, most)
  const self = (level: number) => (
    <li
      role="treeitem"
      aria-level={level}
      aria-current="true"
      aria-expanded={dependants.length === 0 ? undefined : true}
      tabIndex={0}
      class="self"
    >
      <span class="kind">{object.kind}</span> <span class="name">{object.key}</span>
      {shown.length > 0 && (
        <ul role="group">
          {shown.map((related) => (
            <li key={idOf(related)} role="treeitem" aria-level={level + 1} tabIndex={-1}>
              {link(related)}
            </li>
          ))}
        </ul>
      )}
    </li>
  )
  return (
    <>
      <ul class="tree" role="tree" aria-label="Owners and dependants" onKeyDown={onKey}>
        {owners.length === 0
          ? self(1)
          : owners.map((owner, at) => (
              <li
                key={idOf(owner)}
                role="treeitem"
                aria-level={1}
                aria-expanded={at === owners.length - 1 ? true : undefined}
                tabIndex={-1}
              >
                {link(owner)}
                {at === owners.length - 1 && <ul role="group">{self(2)}</ul>}
              </li>
            ))}
      </ul>
      {dependants.length > shown.length && (
        <p class="muted">And {plural(dependants.length - shown.length, "further dependant")}.</p>
      )}
    </>
  )
}
