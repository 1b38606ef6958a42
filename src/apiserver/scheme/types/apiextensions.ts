/** Types of apiextensions: in the notation that ../types.ts explains. Schemas are any object here: `kube/structural` reads them. */
export const types = `
CustomResourceColumnDefinition description:s format:s jsonPath!:s name!:s priority:i type!:s
CustomResourceConversion strategy!:s webhook:WebhookConversion
CustomResourceDefinition apiVersion:s kind:s metadata&:meta.ObjectMeta spec!:CustomResourceDefinitionSpec status&:CustomResourceDefinitionStatus
CustomResourceDefinitionCondition lastTransitionTime:t message:s observedGeneration:l reason:s status!:s type!:s
CustomResourceDefinitionNames categories:[]s kind!:s listKind:s plural!:s shortNames:[]s singular:s
CustomResourceDefinitionSpec conversion:CustomResourceConversion group!:s names!:CustomResourceDefinitionNames preserveUnknownFields:b scope!:s versions!:[]CustomResourceDefinitionVersion
CustomResourceDefinitionStatus acceptedNames&:CustomResourceDefinitionNames conditions:[type]CustomResourceDefinitionCondition storedVersions:[]s
CustomResourceDefinitionVersion additionalPrinterColumns:[]CustomResourceColumnDefinition deprecated:b deprecationWarning*:s name!:s schema:CustomResourceValidation selectableFields:[]SelectableField served!:b storage!:b subresources:CustomResourceSubresources
CustomResourceSubresourceScale labelSelectorPath*:s specReplicasPath!:s statusReplicasPath!:s
CustomResourceSubresources scale:CustomResourceSubresourceScale status*:j
CustomResourceValidation openAPIV3Schema*:j
SelectableField jsonPath!:s
ServiceReference name!:s namespace!:s path*:s port*:i
WebhookClientConfig caBundle:y service:ServiceReference url*:s
WebhookConversion clientConfig:WebhookClientConfig conversionReviewVersions!:[]s
`
