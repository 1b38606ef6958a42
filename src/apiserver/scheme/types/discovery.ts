/** Types of discovery: written by scripts/schema-table.mjs, read by ../types.ts, which explains the notation. */
export const types = `
Endpoint addresses!:[=]s conditions&:EndpointConditions deprecatedTopology:{}s hints:EndpointHints hostname*:s nodeName*:s targetRef:core.ObjectReference zone*:s
EndpointConditions ready*:b serving*:b terminating*:b
EndpointHints forNodes:[]ForNode forZones:[]ForZone
EndpointPort@ appProtocol*:s name*:s port*:i protocol*:s
EndpointSlice addressType!:s apiVersion:s endpoints&:[]Endpoint kind:s metadata&:meta.ObjectMeta ports&:[]EndpointPort
ForNode name!:s
ForZone name!:s
`
