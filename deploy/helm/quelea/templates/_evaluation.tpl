{{/* Evaluations: a CronJob asks for one, does it, and leaves it where the gateway's page reads it (docs/evaluation.md). */}}

{{- define "quelea.evaluation" -}}
{{- if and .Values.jobs.evaluation.enabled (include "quelea.on" (list . "gateway")) }}true{{ end }}
{{- end }}

{{/* Where evaluations are: beside originals and pages; "" without the job, and the gateway keeps its own place. */}}
{{- define "quelea.evaluationsUrl" -}}
{{- if include "quelea.evaluation" . }}{{ if .Values.blobs.url }}{{ trimSuffix "/" .Values.blobs.url }}/evaluations{{ else }}/evaluations{{ end }}{{ end }}
{{- end }}
{{- define "quelea.evaluationsClaim" -}}
{{- if include "quelea.evaluation" . }}{{ include "quelea.blobsClaim" . }}{{ end }}
{{- end }}

{{/* Models that may be asked and may judge: those that are named, else the reader's. */}}
{{- define "quelea.evaluation.models" -}}
{{- $job := .Values.jobs.evaluation }}
{{- if $job.models }}{{ join " " $job.models }}
{{- else }}{{ $endpoint := include "quelea.endpoints" . | splitList "," | first }}
{{- with $endpoint }}reader={{ $.Values.reader.model }}@{{ . }}{{ end }}
{{- end }}
{{- end }}

{{/* What its container has, as an entry of `services` */}}
{{- define "quelea.evaluation.service" -}}
{{- $job := .Values.jobs.evaluation }}
{{- $key := include "quelea.testKeySecret" . }}
{{- $secrets := dict "QUELEA_API_KEY" (dict "secret" ($job.gatewayKeySecret | default $key) "key" "key") }}
{{- $_ := set $secrets "QUELEA_EVAL_API_KEY" (dict "secret" ($job.apiKeySecret | default .Values.reader.apiKeySecret) "key" "api-key") }}
{{- $volumes := dict "evaluations" (dict "mountPath" "/evaluations" "claim" (include "quelea.evaluationsClaim" .) "subPath" "evaluations") }}
{{- $questions := dict "mountPath" "/questions" "readOnly" true }}
{{- if $job.questions.existingClaim }}{{ $_ := set $questions "claim" $job.questions.existingClaim }}{{ else }}{{ $_ := set $questions "configMap" $job.questions.configMap }}{{ end }}
{{- $_ := set $volumes "questions" $questions }}
{{- if $job.gate }}{{ $_ := set $volumes "gate" (dict "mountPath" "/gate" "readOnly" true "configMap" (include "quelea.name" (list . "evaluation-gate"))) }}{{ end }}
{{- $own := dict "image" $job.image "module" "quelea_evaluation" "certificate" "none" "rawEnv" (dict "QUELEA_EVAL_MODELS" (include "quelea.evaluation.models" .)) }}
{{- $_ := set $own "secretEnv" $secrets }}
{{- $_ := set $own "envFromSecrets" (list .Values.blobs.existingSecret) }}
{{- $_ := set $own "volumes" $volumes }}
{{- $_ := set $own "resources" $job.resources }}
{{- include "quelea.fill" (dict "into" $own "from" .Values.serviceDefaults) }}
{{- toYaml $own }}
{{- end }}

{{- define "quelea.evaluation.spec" -}}
{{- $root := . }}{{ $job := .Values.jobs.evaluation }}
{{- $s := include "quelea.evaluation.service" . | fromYaml }}
{{- $gateway := printf "http://%s:%d" (include "quelea.host" (list . "gateway")) (int .Values.services.gateway.ports.http) }}
{{- $work := empty .Values.blobs.url | ternary "/evaluations/work" "/tmp/work" }}
{{- $words := list "python" "-m" "quelea_evaluation" "work" "--once" "--store" (include "quelea.evaluationsUrl" .) "--folder" $work "--questions" "/questions" "--gateway" $gateway "--ask" $job.ask -}}
{{- if $job.gate }}{{ $words = concat $words (list "--gate" "/gate/thresholds.yaml") }}{{ end -}}
# A second pod takes up what the first had begun; not after exit code 1, which says how the evaluation ended.
backoffLimit: 2
podFailurePolicy:
  rules:
    - action: FailJob
      onExitCodes: {containerName: evaluation, operator: In, values: [1]}
activeDeadlineSeconds: {{ int $job.seconds }}
ttlSecondsAfterFinished: 604800
template:
  metadata:
    labels:
      {{- include "quelea.selectorLabels" (list $root "evaluation") | nindent 6 }}
      {{- with $root.Values.commonLabels }}{{ toYaml . | nindent 6 }}{{ end }}
  spec:
    restartPolicy: Never
    serviceAccountName: {{ include "quelea.name" (list $root "evaluation") }}
    automountServiceAccountToken: false
    enableServiceLinks: false
    terminationGracePeriodSeconds: 30
    {{- with $root.Values.priorityClassName }}
    priorityClassName: {{ . }}
    {{- end }}
    {{- include "quelea.pullSecrets" $root | nindent 4 }}
    securityContext:
      runAsNonRoot: true
      runAsUser: 65532
      runAsGroup: 65532
      fsGroup: 65532
      fsGroupChangePolicy: OnRootMismatch
      seccompProfile: {type: RuntimeDefault}
    containers:
      - name: evaluation
        command: {{ toJson $words }}
        {{- include "quelea.container" (dict "root" $root "name" "evaluation" "service" $s) | nindent 8 }}
    volumes:
      - name: tmp
        emptyDir: {sizeLimit: {{ $s.tmpSize }}}
      {{- with include "quelea.evaluationsClaim" $root }}
      - name: evaluations
        persistentVolumeClaim: {claimName: {{ . }}}
      {{- end }}
      - name: questions
        {{- if $job.questions.existingClaim }}
        persistentVolumeClaim: {claimName: {{ $job.questions.existingClaim }}, readOnly: true}
        {{- else }}
        configMap: {name: {{ $job.questions.configMap }}, defaultMode: 0444}
        {{- end }}
      {{- if $job.gate }}
      - name: gate
        configMap: {name: {{ include "quelea.name" (list $root "evaluation-gate") }}, defaultMode: 0444}
      {{- end }}
{{- end }}
