{{/* (dict root name service): an HPA or a ScaledObject. */}}
{{- define "quelea.scaling" -}}
{{- $root := .root }}{{ $name := .name }}{{ $s := .service }}{{ $a := $s.autoscaling }}
{{- if eq $a.engine "hpa" }}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: {{ include "quelea.name" (list $root $name) }}
  labels: {{ include "quelea.labels" (list $root $name) | nindent 4 }}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: {{ $s.kind }}, name: {{ include "quelea.name" (list $root $name) }}}
  minReplicas: {{ int $a.min }}
  maxReplicas: {{ int $a.max }}
  metrics:
    {{- if int $a.cpu }}
    - type: Resource
      resource: {name: cpu, target: {type: Utilization, averageUtilization: {{ int $a.cpu }}}}
    {{- end }}
    {{- if and $root.Values.autoscaling.podMetrics $a.podMetric.name }}
    - type: Pods
      pods:
        metric: {name: {{ $a.podMetric.name | quote }}}
        target: {type: AverageValue, averageValue: {{ $a.podMetric.average | quote }}}
    {{- end }}
  behavior:
    scaleDown:
      stabilizationWindowSeconds: {{ int $a.cooldownSeconds }}
{{- else if eq $a.engine "keda" }}
---
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata:
  name: {{ include "quelea.name" (list $root $name) }}
  labels: {{ include "quelea.labels" (list $root $name) | nindent 4 }}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: {{ $s.kind }}, name: {{ include "quelea.name" (list $root $name) }}}
  minReplicaCount: {{ int $a.min }}
  maxReplicaCount: {{ int $a.max }}
  cooldownPeriod: {{ int $a.cooldownSeconds }}
  triggers:
    - type: prometheus
      metadata:
        serverAddress: {{ $root.Values.autoscaling.prometheus }}
        query: {{ $a.query | replace "$target" (printf "namespace=%q, service=%q" $root.Release.Namespace (include "quelea.name" (list $root ($a.queryService | default $name)))) | quote }}
        threshold: {{ $a.threshold | quote }}
        # Without an answer of Prometheus nothing changes: silence is no sign that there is no work.
        ignoreNullValues: "false"
{{- end }}
{{- end }}
