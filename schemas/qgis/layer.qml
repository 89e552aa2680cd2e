<?xml version="1.0" encoding="UTF-8"?>
<qgis version="3.22.0" styleCategories="AllStyleCategories" labelsEnabled="{isLabelled}">
{&style}
{#picture}<fieldConfiguration><field name="{picture}" configurationFlags="None"><editWidget type="ExternalResource"><config><Option type="Map"><Option name="DocumentViewer" value="1" type="int"/><Option name="FileWidget" value="true" type="bool"/><Option name="RelativeStorage" value="0" type="int"/><Option name="StorageMode" value="0" type="int"/></Option></config></editWidget></field></fieldConfiguration>{/picture}
<previewExpression>{called}</previewExpression>
</qgis>
