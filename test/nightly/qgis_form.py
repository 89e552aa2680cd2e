"""A form that pas made, in QGIS: `check FOLDER` says what QGIS finds in it, `fill FOLDER FINDS PHOTOS SEED` collects finds as its
widgets offer them, `styled GPKG` says how an
exported one is shown, `hold FOLDER` adds one find and keeps the file open until its input ends. Prints one JSON value."""

import json
import os
import random
import sys

from qgis.PyQt.QtCore import QDate
from qgis.PyQt.QtGui import QColor, QImage
from qgis.PyQt.QtWidgets import QWidget
from qgis.core import (
    NULL,
    QgsApplication,
    QgsExpression,
    QgsExpressionContext,
    QgsExpressionContextUtils,
    QgsFeature,
    QgsGeometry,
    QgsPointXY,
    QgsProject,
    QgsTrackedVectorLayerTools,
    QgsValueRelationFieldFormatter,
    QgsVectorLayer,
    QgsVectorLayerUtils,
)
from qgis.gui import QgsAttributeEditorContext, QgsAttributeForm, QgsGui

TEXTS = [
    "rozpadlá spona; „s jehlou“",
    "first line\nsecond line",
    "it's 100 % \"sure\" \\ maybe",
    "žluťoučký kůň 🐎",
    "=1+1",
    "0012",
]


def opened(folder):
    messages = []
    QgsApplication.messageLog().messageReceived.connect(lambda text, tag, level: messages.append(f"{tag}: {text}"))
    project = QgsProject.instance()
    was_read = project.read(os.path.join(folder, "finds.qgs"))
    return project, was_read, messages


def context_of(layer, feature=None):
    context = QgsExpressionContext(QgsExpressionContextUtils.globalProjectLayerScopes(layer))
    if feature is not None:
        context.setFeature(feature)
    return context


def refused(layer, feature):
    """What the constraints of a form say, by field."""
    found = {}
    for index, field in enumerate(layer.fields()):
        holds, errors = QgsVectorLayerUtils.validateAttribute(layer, feature, index)
        if not holds:
            found[field.name()] = errors
    return found


def relations_of_values(project, layer):
    """Fields that are chosen from a layer, and whether that layer has what they need."""
    found = {}
    for index, field in enumerate(layer.fields()):
        setup = layer.editorWidgetSetup(index)
        if setup.type() != "ValueRelation":
            continue
        config = setup.config()
        values = project.mapLayer(config["Layer"])
        columns = [] if values is None else [each.name() for each in values.fields()]
        found[field.name()] = {
            "resolves": values is not None and values.isValid() and config["Key"] in columns and config["Value"] in columns,
            "choices": len(QgsValueRelationFieldFormatter.createCache(config)),
        }
    return found


def check(folder):
    project, was_read, messages = opened(folder)
    finds, photos = project.mapLayer("pas_layer_finds"), project.mapLayer("pas_layer_photos")
    feature = QgsVectorLayerUtils.createFeature(finds, QgsGeometry.fromPointXY(QgsPointXY(15.17, 49.84)), {}, context_of(finds))
    finds.startEditing()
    when_read = list(messages)
    # The window of QGIS gives every form these; the list of photographs cannot be shown without.
    tools, surroundings = QgsTrackedVectorLayerTools(), QgsAttributeEditorContext()
    surroundings.setVectorLayerTools(tools)
    form = QgsAttributeForm(finds, feature, surroundings)
    expressions = [finds.displayExpression()] + [
        text
        for index in range(len(finds.fields()))
        for text in (finds.fields()[index].constraints().constraintExpression(), finds.defaultValueDefinition(index).expression())
    ]
    beginning = {field.name(): plain(feature[field.name()]) for field in finds.fields()}
    missing = refused(finds, feature)
    for name, value in (("stav", 1), ("pristupnost", "HES-000867")):
        feature[name] = value
    answer = {
        "read": was_read,
        "messages": when_read,
        "shown": messages[len(when_read) :],
        "error": project.error(),
        "layers": {id: layer.isValid() for id, layer in project.mapLayers().items()},
        "network": [layer.source() for layer in project.mapLayers().values() if layer.providerType() != "ogr"],
        "systems": sorted({layer.crs().authid() for layer in project.mapLayers().values() if layer.isSpatial()}),
        "relations": [relation.isValid() for relation in project.relationManager().relations().values()],
        "values": relations_of_values(project, finds),
        "attachment": photos.editorWidgetSetup(photos.fields().indexOf("photo")).type(),
        "attachments": project.readListEntry("qfieldsync", "attachmentDirs")[0],
        "themes": project.mapThemeCollection().mapThemes(),
        "broken": [text for text in expressions if text != "" and QgsExpression(text).hasParserError()],
        "widgets": len(form.findChildren(QWidget)),
        "beginning": beginning,
        "missing": missing,
        "registered": refused(finds, feature),
    }
    finds.rollBack()
    return answer


def plain(value):
    if value is None or value == NULL:
        return None
    return value.toString("yyyy-MM-dd") if isinstance(value, QDate) else value


def chosen(dice, layer, feature, name, answers):
    """An entry of a list as the widget offers it for this feature."""
    config = layer.editorWidgetSetup(layer.fields().indexOf(name)).config()
    offered = QgsValueRelationFieldFormatter.createCache(config, feature)
    assert len(offered) > 0, f"{name} offers nothing"
    feature[name] = answers[name] = dice.choice(offered).key


def fill(folder, count, photographs, seed):
    project, was_read, messages = opened(folder)
    assert was_read, messages
    dice = random.Random(seed)
    finds, photos = project.mapLayer("pas_layer_finds"), project.mapLayer("pas_layer_photos")
    assert finds.startEditing() and photos.startEditing()
    collected = []
    for index in range(count):
        place = QgsPointXY(15.17 + dice.uniform(-0.005, 0.005), 49.84 + dice.uniform(-0.005, 0.005))
        feature = QgsVectorLayerUtils.createFeature(finds, QgsGeometry.fromPointXY(place), {}, context_of(finds))
        answers = {"projekt": feature["projekt"], "geom_system": "4326"}
        answers["stav"] = feature["stav"] = 3 if index % 4 == 0 else 2
        for name in ("okolnosti", "obdobi", "druh_nalezu", "specifikace", "pristupnost"):
            chosen(dice, finds, feature, name, answers)
        feature["hloubka"] = answers["hloubka"] = dice.choice([0, 15, 2147483647, dice.randrange(200)])
        feature["datum_nalezu"] = QDate(2024, 1 + dice.randrange(12), 1 + dice.randrange(28))
        answers["datum_nalezu"] = plain(feature["datum_nalezu"])
        for name in ("lokalizace", "presna_datace", "poznamka", "pocet"):
            feature[name] = answers[name] = f"{dice.choice(TEXTS)} {index}"
        if index % 7 == 0:
            feature["nalezce"] = NULL
            feature["nalezce_jmeno"] = answers["nalezce"] = f"Nováková, {('Běla', 'Cilka', 'Dora', 'Ema', 'Fany', 'Gita', 'Hana', 'Ida')[index % 8]}"
        else:
            chosen(dice, finds, feature, "nalezce", answers)
        if answers["stav"] == 3:
            feature["evidencni_cislo"] = answers["evidencni_cislo"] = f"A {seed}-{index}/2024 „x“"
            feature["predano"] = answers["predano"] = True
            chosen(dice, finds, feature, "predano_organizace", answers)
        answers["x"], answers["y"] = repr(place.x()), repr(place.y())
        assert refused(finds, feature) == {}, refused(finds, feature)
        assert finds.addFeature(feature)
        collected.append({"local_id": feature["local_id"], "answers": answers, "photos": []})
    for index in range(photographs):
        find = collected[dice.randrange(count)] if index >= count else collected[index]
        name = f"DCIM/{find['local_id'][:8]}_{index:04}.jpg"
        image = QImage(24, 16, QImage.Format_RGB32)
        image.fill(QColor(index % 256, index // 256, seed % 256))
        image.setPixelColor(index % 24, index // 24 % 16, QColor(255 - index % 256, 90, 10))
        assert image.save(os.path.join(folder, name), "JPG", 95)
        row = QgsVectorLayerUtils.createFeature(photos, QgsGeometry(), {}, context_of(photos))
        row["find"], row["photo"] = find["local_id"], name
        assert photos.addFeature(row)
        find["photos"].append(name.split("/")[1])
    assert finds.commitChanges(), finds.commitErrors()
    assert photos.commitChanges(), photos.commitErrors()
    return collected


def styled(path):
    """How QGIS shows the layer of a GeoPackage that it is only given the name of."""
    finds = QgsVectorLayer(f"{path}|layername=finds", "finds", "ogr")
    named = finds.labeling().settings()
    context = context_of(finds)
    shown = []
    for feature in finds.getFeatures():
        context.setFeature(feature)
        state = finds.renderer().categories()[finds.renderer().categoryIndexForValue(feature["sending_state"])]
        shown.append([feature["local_id"], state.label(), QgsExpression(named.fieldName).evaluate(context)])
    return {
        "valid": finds.isValid(),
        "renderer": finds.renderer().type(),
        "labels": finds.labelsEnabled(),
        "shown": shown,
    }


def hold(folder):
    """Leaves what it adds in the log beside the file, as a program does that is still open."""
    collected = fill(folder, 1, 0, 99)
    print(json.dumps(collected), flush=True)
    sys.stdin.read()


def main():
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    application = QgsApplication([], True)
    application.initQgis()
    QgsGui.editorWidgetRegistry().initEditors()
    command, folder, *numbers = sys.argv[1:]
    if command == "hold":
        hold(folder)
    else:
        answer = {"check": check, "styled": styled, "fill": fill}[command](folder, *map(int, numbers))
        print(json.dumps(answer, ensure_ascii=False))
    sys.stdout.flush()
    # QGIS may crash in its own end, when all is said.
    os._exit(0)


main()
