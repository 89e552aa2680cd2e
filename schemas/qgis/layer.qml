<?xml version="1.0" encoding="UTF-8"?>
<qgis version="3.22.0" styleCategories="AllStyleCategories" labelsEnabled="1">
{&style}
<previewExpression>{called}</previewExpression>
</qgis>
