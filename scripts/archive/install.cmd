@"%~dp0runtime\node.exe" "%~dp0app\install.mjs" %*
