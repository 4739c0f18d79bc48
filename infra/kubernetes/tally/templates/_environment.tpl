{{/*
The secret settings that processes read, keys of the Secret, and whether each has to be there. Settings that go together
are there together or not at all, or Tally would refuse them.
*/}}
{{- define "tally.secretSettings" -}}
REDIS_URL: true
ADMIN_SECRET_KEY: false
{{- if .Values.settings.KAFKA_SASL_MECHANISM }}
KAFKA_SASL_USERNAME: true
KAFKA_SASL_PASSWORD: true
{{- end }}
{{- if .Values.settings.ADMIN_OIDC_ISSUER }}
ADMIN_OIDC_CLIENT_SECRET: true
{{- end }}
{{- end }}

{{/* The key of the Secret with the address of Postgres for a component; none for one that does not use Postgres. */}}
{{- define "tally.databaseUrlKey" -}}
{{- $part := ternary "migrate" .component (eq .component "contract") -}}
{{- (get .root.Values $part).databaseUrlKey | default "" }}
{{- end }}

{{/* The Secret that a component reads. Two hooks run before the release's own Secret exists, so they have a copy. */}}
{{- define "tally.secretName" -}}
{{- $name := include "tally.name" .root -}}
{{- if .root.Values.existingSecret }}{{ .root.Values.existingSecret }}
{{- else if has .component (list "migrate" "topics") }}{{ $name }}-hooks
{{- else }}{{ $name }}{{ end }}
{{- end }}

{{/* A setting as text: YAML reads 1000000 as a floating-point number, which would be printed as 1e+06. */}}
{{- define "tally.text" -}}
{{- if kindIs "float64" . }}{{ . | int64 }}{{ else }}{{ . }}{{ end }}
{{- end }}

{{/*
The environment of a component: all settings but those of others. Settings that go together (ADMIN_OIDC_…, KAFKA_SASL_…)
reach a process all or not at all. Takes root and component.
*/}}
{{- define "tally.environment" -}}
{{- $root := .root -}}
{{- $component := .component -}}
{{- $values := $root.Values -}}
{{- $others := dict "admin" "^$" "query" "^(ADMIN|KAFKA)_" | dig $component "^ADMIN_" -}}
{{- range $name, $value := $values.settings }}
{{- if not (regexMatch $others $name) }}
- name: {{ $name }}
  value: {{ include "tally.text" $value | quote }}
{{- end }}
{{- end }}
{{- $secrets := include "tally.secretSettings" $root | fromYaml }}
{{- $databaseUrlKey := include "tally.databaseUrlKey" . }}
{{- if $databaseUrlKey }}{{ $_ := set $secrets "DATABASE_URL" true }}{{ end }}
{{- range $name, $isRequired := $secrets }}
{{- $key := eq $name "DATABASE_URL" | ternary $databaseUrlKey $name }}
{{- if and (not (regexMatch $others $name)) (or $values.existingSecret (hasKey $values.secrets $key)) }}
- name: {{ $name }}
  valueFrom:
    secretKeyRef:
      name: {{ include "tally.secretName" (dict "root" $root "component" $component) }}
      key: {{ $key }}
      {{- if not $isRequired }}
      optional: true
      {{- end }}
{{- end }}
{{- end }}
{{- if $values.certificateAuthority.secret }}
- name: NODE_EXTRA_CA_CERTS
  value: /etc/tally/{{ $values.certificateAuthority.key }}
{{- end }}
{{- end }}
