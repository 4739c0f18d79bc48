{{/*
Metadata and specification of a pod that runs one command of Tally. Takes root, component, arguments, resources; of a
service also ops, and of one that answers requests port and preStopSeconds.
*/}}
{{- define "tally.pod" -}}
{{- $values := .root.Values -}}
{{- $annotations := deepCopy $values.pods.annotations -}}
{{- if not $values.existingSecret }}{{ $_ := set $annotations "checksum/secret" ($values.secrets | toJson | sha256sum) }}{{ end -}}
metadata:
  labels:
    {{- include "tally.labels" . | nindent 4 }}
    {{- with $values.pods.labels }}{{ toYaml . | nindent 4 }}{{ end }}
  {{- with $annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  # A Service named "query" or "admin" would put variables such as QUERY_PORT=tcp://… into every pod.
  enableServiceLinks: false
  automountServiceAccountToken: false
  {{- with $values.pods.serviceAccountName }}
  serviceAccountName: {{ . }}
  {{- end }}
  {{- with $values.pods.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  {{- with $values.image.pullSecrets }}
  imagePullSecrets:
    {{- range . }}
    - name: {{ . }}
    {{- end }}
  {{- end }}
  securityContext:
    {{- toYaml $values.pods.securityContext | nindent 4 }}
  {{- with $values.pods.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $values.pods.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $values.pods.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- if .ops }}
  # Tally stops within 10 s after SIGTERM (docs/install.md), which comes after the preStop sleep.
  terminationGracePeriodSeconds: {{ add (.preStopSeconds | default 0) 20 }}
  topologySpreadConstraints:
    {{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
    - topologyKey: {{ . }}
      maxSkew: 1
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "tally.selector" $ | nindent 10 }}
      matchLabelKeys: [pod-template-hash]
    {{- end }}
  {{- else }}
  restartPolicy: Never
  {{- end }}
  {{- with $values.certificateAuthority }}
  {{- if .secret }}
  volumes:
    - name: certificate-authority
      secret:
        secretName: {{ .secret }}
        items:
          - key: {{ .key }}
            path: {{ .key }}
  {{- end }}
  {{- end }}
  containers:
    - name: {{ .component }}
      image: {{ include "tally.image" .root | quote }}
      imagePullPolicy: {{ $values.image.pullPolicy }}
      args:
        {{- toYaml .arguments | nindent 8 }}
      env:
        {{- include "tally.environment" . | trim | nindent 8 }}
      resources:
        {{- toYaml .resources | nindent 8 }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities:
          drop: [ALL]
      {{- if $values.certificateAuthority.secret }}
      volumeMounts:
        - name: certificate-authority
          mountPath: /etc/tally
          readOnly: true
      {{- end }}
      {{- if .ops }}
      {{- include "tally.service" . | nindent 6 }}
      {{- end }}
{{- end }}

{{/* Ports, probes and the sleep before SIGTERM of a service's container. */}}
{{- define "tally.service" -}}
ports:
  {{- if .port }}
  - name: http
    containerPort: {{ .port }}
  {{- end }}
  - name: ops
    containerPort: {{ .ops }}
# A service that waits for Kafka or Postgres is live; the time is for a node that is too busy to start it.
startupProbe:
  httpGet: { path: /livez, port: ops }
  periodSeconds: 2
  timeoutSeconds: 5
  failureThreshold: 90
livenessProbe:
  httpGet: { path: /livez, port: ops }
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
readinessProbe:
  httpGet: { path: /readyz, port: ops }
  periodSeconds: 5
  timeoutSeconds: 3
  failureThreshold: 2
{{- if .preStopSeconds }}
# Connections still arrive after the pod was taken from its Service: without a sleep 34 of 2,220 requests were refused
# in a rolling update, with 10 s none of 2,928.
lifecycle:
  preStop:
    sleep: { seconds: {{ .preStopSeconds }} }
{{- end }}
{{- end }}
