{{/* The pods in which code runs (sandboxPods): "true" when the sandbox is on and has no engine of its own. */}}
{{- define "quelea.pods" -}}
{{- if and (include "quelea.on" (list . "sandbox")) (not .Values.sandboxEngine.enabled) }}true{{ end }}
{{- end }}

{{/* (list $ value): the value where code runs in pods, else "" */}}
{{- define "quelea.forPods" -}}
{{- if include "quelea.pods" (index . 0) }}{{ $value := index . 1 }}{{ if kindIs "string" $value }}{{ $value }}{{ else if $value }}{{ toJson $value }}{{ end }}{{ end }}
{{- end }}

{{- define "quelea.runsNamespace" -}}
{{ .Values.sandboxPods.namespace | default (printf "%s-%s-runs" (.Release.Namespace | trunc 17 | trimSuffix "-") (include "quelea.fullname" .)) }}
{{- end }}

{{- define "quelea.runnerImage" -}}
{{- if include "quelea.pods" . }}{{ include "quelea.image" (list . .Values.sandboxEngine.runnerImage) }}{{ else }}quelea-runner:latest{{ end }}
{{- end }}

{{/* Labels of the pods that may call the door, as adapters/kubernetes_options.py sets them. */}}
{{- define "quelea.runsLabels" -}}
app.kubernetes.io/component: sandbox-run
quelea.io/sandbox-owner: {{ include "quelea.name" (list . "sandbox") }}
quelea.io/market-data: allowed
{{- end }}

{{/* (list $ caller callee): is this arrow of the table there? With pods it is they who call the door, not the sandbox. */}}
{{- define "quelea.arrow" -}}
{{- $root := index . 0 }}{{ $caller := index . 1 }}{{ $callee := index . 2 -}}
{{- if and (or (eq $caller "test") (and (eq $caller "maintenance") (include "quelea.jobs" $root)) (and (eq $caller "evaluation") (include "quelea.evaluation" $root)) (include "quelea.on" (list $root $caller))) (include "quelea.on" (list $root $callee)) }}
{{- $inPods := and (eq $caller "sandbox") (eq $callee "door") (include "quelea.pods" $root) }}
{{- $nothingShared := and (eq $caller "gateway") (eq $callee "redis") (not (include "quelea.gatewayRedis" $root)) }}
{{- if not (or $inPods $nothingShared) }}true{{ end }}
{{- end }}
{{- end }}

{{/* The one token in the release, for the API server: short-lived, and in the sandbox's container alone. */}}
{{- define "quelea.runs.volume" -}}
- name: api-access
  projected:
    defaultMode: 0440
    sources:
      - serviceAccountToken: {path: token, expirationSeconds: 3600}
      - configMap: {name: kube-root-ca.crt, items: [{key: ca.crt, path: ca.crt}]}
{{- end }}

{{- define "quelea.runs.mount" -}}
- {name: api-access, mountPath: /var/run/secrets/kubernetes.io/serviceaccount, readOnly: true}
{{- end }}

{{- define "quelea.runs.egress" -}}
- to:
    {{- range .Values.sandboxPods.apiServer.cidrs }}
    - ipBlock: {cidr: {{ . | quote }}}
    {{- end }}
  ports:
    {{- range .Values.sandboxPods.apiServer.ports }}
    - {protocol: TCP, port: {{ int . }}}
    {{- end }}
{{- end }}

{{/* Pieces of the admission policy. (list field value): the field is the value; where that is empty, it is not there. */}}
{{- define "quelea.runs.same" -}}
{{- $field := index . 0 }}{{ $value := index . 1 -}}
{{- if $value }}has({{ $field }}) && {{ $field }} == {{ include "quelea.runs.literal" $value }}{{ else }}!has({{ $field }}){{ end }}
{{- end }}

{{/* A string of CEL */}}
{{- define "quelea.runs.literal" -}}
'{{ . | toString | replace "\\" "\\\\" | replace "'" "\\'" }}'
{{- end }}

{{- define "quelea.runs.map" -}}
{ {{- $first := true }}{{ range $key, $value := . }}{{ if not $first }}, {{ end }}{{ $first = false }}{{ include "quelea.runs.literal" $key }}: {{ include "quelea.runs.literal" $value }}{{ end -}} }
{{- end }}

{{/* That t is this toleration, field by field: an object of the API is not comparable with a map. */}}
{{- define "quelea.runs.toleration" -}}
{{- $is := . }}{{ $parts := list }}
{{- range list "key" "operator" "value" "effect" }}
{{- if get $is . }}{{ $parts = append $parts (printf "has(t.%s) && t.%s == %s" . . (include "quelea.runs.literal" (get $is .))) }}{{ else }}{{ $parts = append $parts (printf "!has(t.%s)" .) }}{{ end }}
{{- end }}
{{- if hasKey $is "tolerationSeconds" }}{{ $parts = append $parts (printf "has(t.tolerationSeconds) && t.tolerationSeconds == %d" (int $is.tolerationSeconds)) }}{{ else }}{{ $parts = append $parts "!has(t.tolerationSeconds)" }}{{ end }}
{{- join " && " $parts }}
{{- end }}
