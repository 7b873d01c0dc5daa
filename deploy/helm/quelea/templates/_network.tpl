{{/* (dict root name service): ingress and egress of one service, from networkPolicy.arrows. */}}
{{- define "quelea.network" -}}
{{- $root := .root }}{{ $name := .name }}{{ $s := .service }}{{ $policy := $root.Values.networkPolicy -}}
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: {{ include "quelea.name" (list $root $name) }}
  labels: {{ include "quelea.labels" (list $root $name) | nindent 4 }}
spec:
  podSelector:
    matchLabels: {{ include "quelea.selectorLabels" (list $root $name) | nindent 6 }}
  policyTypes: [Ingress, Egress]
  {{- $ingress := include "quelea.ingress" . | trim }}
  {{- if $ingress }}
  ingress:
    {{ $ingress | nindent 4 | trim }}
  {{- else }}
  ingress: []
  {{- end }}
  egress:
    {{- include "quelea.dns" $root | nindent 4 }}
    {{- include "quelea.arrowsFrom" (list $root $name) | nindent 4 }}
    {{- if and (eq $name "sandbox") (include "quelea.pods" $root) }}{{ include "quelea.runs.egress" $root | nindent 4 }}{{ end }}
    {{- with $s.extraEgress }}{{ toYaml . | nindent 4 }}{{ end }}
    {{- if eq $name "gateway" }}{{ with include "quelea.signIn.egress" $root | trim }}{{ . | nindent 4 }}{{ end }}{{ end }}
    {{- if and $s.prefix $root.Values.tracing.endpoint }}{{ with $root.Values.tracing.egress }}{{ toYaml . | nindent 4 }}{{ end }}{{ end }}
    {{- if and $s.world $policy.world.enabled }}
    - to:
        - ipBlock:
            cidr: 0.0.0.0/0
            except: {{ toJson $policy.world.except }}
        - ipBlock:
            cidr: ::/0
            except: {{ toJson $policy.world.exceptIPv6 }}
      ports:
        {{- range $s.worldPorts }}
        - {protocol: TCP, port: {{ int . }}}
        {{- end }}
    {{- end }}
{{- end }}

{{/* (list $ caller) */}}
{{- define "quelea.arrowsFrom" -}}
{{- $root := index . 0 }}
{{- $caller := index . 1 }}
{{- range get $root.Values.networkPolicy.arrows $caller | default list }}
{{- $parts := splitList ":" . }}
{{- if include "quelea.arrow" (list $root $caller (first $parts)) }}
- to:
    - podSelector:
        matchLabels: {{ include "quelea.selectorLabels" (list $root (first $parts)) | nindent 10 }}
  ports:
    - {protocol: TCP, port: {{ int (get (get $root.Values.services (first $parts)).ports (last $parts)) }}}
{{- end }}
{{- end }}
{{- end }}

{{- define "quelea.dns" -}}
{{- $dns := .Values.networkPolicy.dns -}}
- to:
    - namespaceSelector: {matchLabels: {{ toJson $dns.namespaceLabels }}}
      podSelector: {matchLabels: {{ toJson $dns.podLabels }}}
    {{- range $dns.cidrs }}
    - ipBlock: {cidr: {{ . }}}
    {{- end }}
  ports:
    - {protocol: UDP, port: 53}
    - {protocol: TCP, port: 53}
{{- end }}

{{- define "quelea.ingress" -}}
{{- $root := .root }}{{ $name := .name }}{{ $s := .service }}{{ $policy := $root.Values.networkPolicy }}
{{- range $caller, $callees := $policy.arrows }}
{{- range $callees }}
{{- $parts := splitList ":" . }}
{{- if and (eq (first $parts) $name) (include "quelea.arrow" (list $root $caller $name)) }}
- from:
    - podSelector:
        matchLabels: {{ include "quelea.selectorLabels" (list $root $caller) | nindent 14 }}
  ports:
    - {protocol: TCP, port: {{ int (get $s.ports (last $parts)) }}}
{{- end }}
{{- end }}
{{- end }}
{{- if and (eq $name "door") (include "quelea.pods" $root) }}
- from:
    - namespaceSelector:
        matchLabels: {kubernetes.io/metadata.name: {{ include "quelea.runsNamespace" $root }}}
      podSelector:
        matchLabels: {{ include "quelea.runsLabels" $root | nindent 14 }}
  ports:
    - {protocol: TCP, port: {{ int $s.ports.data }}}
{{- end }}
{{- if eq $name "gateway" }}
- ports:
    {{- range $s.ports }}
    - {protocol: TCP, port: {{ int . }}}
    {{- end }}
  {{- with $policy.gatewayFrom }}
  from: {{ toYaml . | nindent 8 }}
  {{- end }}
{{- end }}
{{- if include "quelea.scraped" . }}
- ports:
    - {protocol: TCP, port: {{ int $s.metricsPort }}}
  from:
    - namespaceSelector: {{ with $root.Values.monitoring.namespaceLabels }}{matchLabels: {{ toJson . }}}{{ else }}{}{{ end }}
{{- end }}
{{- end }}
