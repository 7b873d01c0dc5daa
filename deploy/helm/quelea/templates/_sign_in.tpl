{{/* Signing in, and what gateways share in Redis. */}}

{{/* "true" when gateways keep sessions and limits in Redis */}}
{{- define "quelea.gatewayRedis" -}}
{{- if or .Values.signIn.enabled .Values.limits.shared }}true{{ end }}
{{- end }}

{{- define "quelea.signIn.publicUrl" -}}
{{- if .Values.signIn.publicUrl }}{{ trimSuffix "/" .Values.signIn.publicUrl }}
{{- else if and .Values.signIn.enabled .Values.signIn.clientId }}https://{{ required "signIn leads people back to the page: signIn.publicUrl or ingress.host names it" .Values.ingress.host }}{{ end }}
{{- end }}

{{- define "quelea.signIn.configMap" -}}
{{- if .Values.signIn.enabled }}{{ include "quelea.name" (list . "sign-in") }}{{ end }}
{{- end }}

{{/* The Secret with the client's secret, "" where there is none */}}
{{- define "quelea.signIn.secret" -}}
{{- if and .Values.signIn.enabled .Values.signIn.clientId }}{{ .Values.signIn.existingSecret }}{{ end }}
{{- end }}

{{/* The gateway's file: no secret is in it. */}}
{{- define "quelea.signIn.toml" -}}
{{- $in := .Values.signIn }}
{{- $file := dict "issuer" $in.issuer "audiences" $in.audiences "scopes" $in.scopes "groups_claim" $in.groupsClaim "subject_claim" $in.subjectClaim "members" $in.members }}
{{- if $in.clientId }}
{{- $login := dict "client_id" $in.clientId "session_seconds" $in.sessionSeconds "idle_seconds" $in.idleSeconds }}
{{- if $in.existingSecret }}{{ $_ := set $login "client_secret_file" (printf "/etc/quelea/sign-in-client/%s" $in.secretKey) }}{{ end }}
{{- $_ := set $file "login" $login }}
{{- end }}
{{- toToml $file }}
{{- end }}

{{/* The gateway's way to the provider. */}}
{{- define "quelea.signIn.egress" -}}
{{- $policy := .Values.networkPolicy }}
{{- if .Values.signIn.enabled }}
{{- if .Values.signIn.egress }}
{{- toYaml .Values.signIn.egress }}
{{- else if $policy.world.enabled }}
- to:
    - ipBlock:
        cidr: 0.0.0.0/0
        except: {{ toJson $policy.world.except }}
    - ipBlock:
        cidr: ::/0
        except: {{ toJson $policy.world.exceptIPv6 }}
  ports:
    - {protocol: TCP, port: {{ regexFind ":[0-9]+" (urlParse .Values.signIn.issuer).host | trimPrefix ":" | default "443" | int }}}
{{- else }}
{{- fail "signIn: nobody leaves the cluster (networkPolicy.world.enabled is false), so signIn.egress has to name the way to the provider" }}
{{- end }}
{{- end }}
{{- end }}

{{- define "quelea.signIn.check" -}}
{{- if .Values.signIn.enabled }}
{{- if not .Values.signIn.issuer }}{{ fail "signIn.issuer names the provider, as its discovery document says" }}{{ end }}
{{- if not .Values.signIn.members }}{{ fail "signIn.members says what the provider's groups may do; without it nobody may do anything" }}{{ end }}
{{- if not (or .Values.signIn.clientId .Values.signIn.audiences) }}{{ fail "signIn: clientId lets people sign in to the page, audiences lets programs send tokens; name one of them" }}{{ end }}
{{- end }}
{{- if and (include "quelea.gatewayRedis" .) (not (or (include "quelea.on" (list . "redis")) .Values.redis.existingSecret)) }}
{{- fail "signIn and limits.shared keep sessions and limits in Redis: services.redis, or redis.existingSecret" }}
{{- end }}
{{- if and .Values.models.set (not (include "quelea.modelsClaim" .)) }}
{{- fail "models.set is a folder of the volume of models: models.enabled or models.existingClaim" }}
{{- end }}
{{- end }}
