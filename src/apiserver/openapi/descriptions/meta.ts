/** Types of meta/v1: what objects of every kind have, selectors, references and conditions. */

/** The texts of the types of one API group, by type and field. The empty field name is the type itself. */
export type Descriptions = Readonly<Record<string, Readonly<Record<string, string>>>>

/** The fields of a condition in a status; `types` is how the text on `type` ends, with the types that are in use. */
export const condition = (types: string) => ({
  "": "One aspect of the state of the object. A list holds at most one condition of each type.",
  lastTransitionTime: "When status last changed from one value to another.",
  message: "Details of the last change, for people.",
  reason: "The cause of the last change as one word in CamelCase, for programs.",
  status: "True, False, or Unknown when the component that writes the condition cannot determine it.",
  type: `The aspect that the condition is about: ${types}.`
})

export const lastProbeTime = "When the condition was last checked. Most components leave it empty."

export const meta: Descriptions = {
  Condition: {
    ...condition("a word in CamelCase, which may have the prefix of a domain"),
    observedGeneration:
      "The metadata.generation that the condition was computed for. If it is lower than the present one, the condition is out of date."
  },
  LabelSelector: {
    "": "Selects objects by their labels. All requirements of matchLabels and matchExpressions must hold. An empty selector matches every object; an absent one matches none, unless the field that holds it has another rule.",
    matchExpressions: "Requirements on the value or the existence of a label. All of them must hold.",
    matchLabels:
      "Labels that an object must have with exactly these values. An entry is the same as an expression with the operator In and one value."
  },
  LabelSelectorRequirement: {
    "": "A requirement on one label.",
    key: "The name of the label.",
    operator:
      "In and NotIn compare the value of the label with values; Exists and DoesNotExist only check that the label is there. NotIn also matches objects without the label.",
    values: "The values to compare with. At least one for In and NotIn; empty for Exists and DoesNotExist."
  },
  ListMeta: {
    "": "What every list has: its version, and how to read the rest of it.",
    continue:
      "A token for the next page, set if the request had a limit and there are more objects. Send it as the parameter continue with otherwise the same request. It expires after some minutes; the server then returns 410.",
    remainingItemCount:
      "How many objects follow on later pages; an estimate. Absent if the list is complete or a selector was used.",
    resourceVersion:
      "The version of the store that the list shows. A watch from this version returns all later changes. Clients may only compare or pass it on.",
    selfLink: "Deprecated: no longer set.",
    shardInfo: "Set if the request selected a part (a shard) of the collection. Alpha: ShardedListAndWatch."
  },
  ManagedFieldsEntry: {
    "": "The fields that one manager has set. Server-side apply finds conflicts between managers by it.",
    apiVersion: "The version of the API in which the names of the fields are written.",
    fieldsType: "The format of fieldsV1; always FieldsV1.",
    fieldsV1:
      "The set of fields as a tree: f:name is a field, k:{…} an element of a list by its keys, v:… a value of a set.",
    manager: "The name of the program that set the fields; kubectl and client libraries set it in their requests.",
    operation: "How the fields were set: Apply for server-side apply, Update for all other writes.",
    subresource: "The subresource that was written, such as status; empty for the object itself.",
    time: "When the entry was added or its set of fields last changed."
  },
  ObjectMeta: {
    "": "What every stored object has, whatever its kind: its name, labels, owners and its place in the life cycle.",
    annotations:
      "Free-form data for tools and people, by name. Not usable in selectors. All annotations of an object together may have at most 256 KiB.",
    creationTimestamp: "When the server created the object. Set by the server; read-only.",
    deletionGracePeriodSeconds:
      "Seconds that the object may take to end after its deletion was requested. Set together with deletionTimestamp; it can only be shortened. Read-only.",
    deletionTimestamp:
      "Set by the server when a deletion is requested, to the time at which the grace period ends. It cannot be removed. The object is removed once its finalizers are empty and, for a pod, its containers have ended.",
    finalizers:
      "Names of work that must be done before the object is removed. The controller responsible for a name does the work and then removes the name. After a deletion is requested, no names can be added.",
    generateName:
      "The beginning of the name if name is empty: the server appends five random characters. Use it with create, not with apply.",
    generation: "A number that increases with each change of the desired state. Set by the server; read-only.",
    labels:
      "Names and values to group objects by and to select them. A value has at most 63 characters: letters, digits, '-', '_' and '.'.",
    managedFields:
      "Which manager has set which fields; server-side apply uses it. Maintained by the server. kubectl hides it without --show-managed-fields.",
    name: "The name, unique among the objects of this kind in the namespace. Usually lower-case letters, digits, '-' and '.'. It cannot be changed: a new name is a new object.",
    namespace:
      "The namespace of the object. Empty for kinds that are not in namespaces, such as Node. It cannot be changed. If it is unset, kubectl uses that of the current context.",
    ownerReferences:
      "The objects that this one belongs to. Once none of them exists any more, the garbage collector deletes this object. At most one of them may be its controller.",
    resourceVersion:
      "Changes with each write of the object. An update that carries an old value is refused with 409 Conflict, so that concurrent changes are not overwritten. Compare it only for equality.",
    selfLink: "Deprecated: no longer set.",
    uid: "Unique among all objects that ever existed in the cluster; distinguishes objects that had the same name at different times. Set by the server; read-only."
  },
  OwnerReference: {
    "": "An object that the present one belongs to. It must be in the same namespace, or of a kind that is not in namespaces.",
    apiVersion: "The API version of the owner, such as apps/v1.",
    blockOwnerDeletion:
      "If true, a deletion of the owner in the foreground (--cascade=foreground) waits until this object is gone. Setting it needs the permission to update the finalizers of the owner. Default: false.",
    controller:
      "If true, the owner is the controller that manages this object, as a ReplicaSet manages its pods. At most one owner may have it.",
    kind: "The kind of the owner, such as ReplicaSet.",
    name: "The name of the owner.",
    uid: "The metadata.uid of the owner. An object with the same name and another uid is not the owner."
  },
  ShardInfo: {
    "": "Which part of a collection a list contains.",
    selector: "The shard selector of the request."
  }
}
