/** The names of all Secrets that a pod refers to: pull secrets, environment variables, volumes and credentials of volumes. Source: core/v1 PodSpec. */
import type { Pod } from "../../kube/resources.ts"

type Spec = NonNullable<Pod["spec"]>

type Volume = NonNullable<Spec["volumes"]>[number]

export const of = ({ spec }: Pod): ReadonlyArray<string> =>
  spec === undefined
    ? []
    : [
        ...(spec.imagePullSecrets ?? []).map(({ name }) => name),
        ...containersOf(spec).flatMap(variables),
        ...(spec.volumes ?? []).flatMap(ofVolume)
      ].flatMap((name) => (name === undefined || name === "" ? [] : [name]))

type Container = Pick<Spec["containers"][number], "env" | "envFrom">

const containersOf = (spec: Spec): ReadonlyArray<Container> => [
  ...(spec.initContainers ?? []),
  ...spec.containers,
  ...(spec.ephemeralContainers ?? [])
]

const variables = ({ env = [], envFrom = [] }: Container): ReadonlyArray<string | undefined> => [
  ...env.map(({ valueFrom }) => valueFrom?.secretKeyRef?.name),
  ...envFrom.map(({ secretRef }) => secretRef?.name)
]

const ofVolume = (volume: Volume): ReadonlyArray<string | undefined> => [
  volume.secret?.secretName,
  ...(volume.projected?.sources ?? []).map(({ secret }) => secret?.name),
  volume.azureFile?.secretName,
  volume.cephfs?.secretRef?.name,
  volume.cinder?.secretRef?.name,
  volume.csi?.nodePublishSecretRef?.name,
  volume.flexVolume?.secretRef?.name,
  volume.iscsi?.secretRef?.name,
  volume.rbd?.secretRef?.name,
  volume.scaleIO?.secretRef?.name,
  volume.storageos?.secretRef?.name
]
